package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/supervisor"
)

func newSetCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:   "set <handle> KEY=VALUE...",
		Short: "Change an agent's record",
		Long: ui.WithCodes(`Changes values in the agent's record: all of the named ones, or none.

  model=NAME              like spawn --model; empty: Claude chooses
  permission-mode=MODE    how claude asks before it acts
  prompt=TEXT             the first message, while nothing was said yet,
                          and for resume --fresh
  restart=POLICY          no, on-failure, on-abnormal or always
  answers=on|off          let commands answer what the agent asks
  budget=USD/PERIOD       like 5.00/day, also hour or week; off: no limit.
                          Only a person may (nbs-worker help budgets)

restart and budget take effect at once, the others at the next start. Until then session shows the
difference as drift; nbs-worker resume <handle> --force starts the agent again. The record must
be allowed.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker set theologian restart=on-failure
  nbs-worker set theologian model=opus permission-mode=acceptEdits
  nbs-worker set theologian budget=5.00/day`,
		Args:              setPositional,
		ValidArgsFunction: completeSet(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ui.Failed(runSet(cmd.Context(), f, agent.Handle(args[0]), args[1:]), "set", args[0])
		},
	})
}

// setPositional checks the handle, and that there is something to change.
func setPositional(cmd *cobra.Command, args []string) error {
	if err := ui.OneHandle(cmd, args[:min(1, len(args))]); err != nil {
		return err
	}
	if len(args) == 1 {
		return fail.Errorf(fail.BadInput, "set: KEY=VALUE is needed").Hint("for example: nbs-worker set %s restart=on-failure", args[0])
	}
	return nil
}

func runSet(ctx context.Context, f *ui.Factory, handle agent.Handle, words []string) error {
	set, err := parseSet(words)
	if err != nil {
		return err
	}
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	changed, err := s.Set(ctx, handle, set)
	if err != nil {
		return err
	}
	return f.ShowOne(ui.Outcome{JSON: wire.NewSet(changed), Handle: changed.Record.Handle, Words: ui.SetWords(changed)})
}

// setKeys are the fields that set changes, in the order of its help.
var setKeys = []string{"model", "permission-mode", "prompt", "restart", "answers", "budget"}

// parseSet parses the changes, each field at most once.
func parseSet(words []string) (set supervisor.Set, err error) {
	given := map[string]bool{}
	for _, word := range words {
		key, value, found := strings.Cut(word, "=")
		if !found || !slices.Contains(setKeys, key) {
			return set, fail.Errorf(fail.BadInput, "%s is not one of %s=VALUE", human.Quote(word), strings.Join(setKeys, "=VALUE, ")).Hint("nbs-worker set --help")
		}
		if given[key] {
			return set, fail.Errorf(fail.BadInput, "%s is given twice", key)
		}
		given[key] = true
		if err := parseSetting(&set, key, value); err != nil {
			return set, err
		}
	}
	return set, nil
}

func parseSetting(set *supervisor.Set, key, value string) error {
	switch key {
	case "model":
		model, err := agent.ChooseModel(value)
		set.Model = &model
		return err
	case "permission-mode":
		mode, err := agent.ParsePermissionMode(value)
		set.PermissionMode = &mode
		return err
	case "restart":
		word, err := agent.ParseRestartWord(value)
		set.Restart = &word
		return err
	case "budget":
		budget, err := agent.ParseBudget(value)
		set.Budget = &budget
		return err
	case "answers":
		if value != "on" && value != "off" {
			return fail.Errorf(fail.BadInput, "answers=%s is not on or off", human.Quote(value))
		}
		set.Answers = new(value == "on")
		return nil
	default:
		prompt := strings.TrimSpace(value)
		set.Prompt = &prompt
		return nil
	}
}

// completeSet completes a handle, then the fields.
func completeSet(f *ui.Factory) ui.Completion {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return f.HandlesWhere(ui.AnyAgent)(cmd, args, toComplete)
		}
		var words []string
		for _, key := range setKeys {
			if !slices.ContainsFunc(args[1:], func(arg string) bool { return strings.HasPrefix(arg, key+"=") }) {
				words = append(words, key+"=")
			}
		}
		key, _, _ := strings.Cut(toComplete, "=")
		for name, values := range map[string]ui.Completion{"model": ui.CompleteModels, "permission-mode": ui.CompleteModes, "restart": ui.CompleteRestarts, "answers": cobra.FixedCompletions([]string{"on", "off"}, cobra.ShellCompDirectiveNoFileComp)} {
			if key != name {
				continue
			}
			offered, _ := values(cmd, args, "")
			words = agent.Mapped(offered, func(value string) string { return name + "=" + value })
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func newResetCmd(f *ui.Factory) *cobra.Command {
	o := &ui.Selection{}
	cmd := &cobra.Command{
		Use:   "reset {<handle>... | @GROUP... | --all}",
		Short: "Clear counted failures, and end a hold",
		Long: ui.WithCodes(`Clears the failures that the restart policy has counted, and the wait between two starts, and
ends a hold (nbs-worker help restarts). It starts nothing; nbs-worker resume does, and resets
by itself. The exit code is 0 even if there was nothing to clear.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker reset theologian
  nbs-worker reset theologian gatekeeper`,
		Args:              o.Positional,
		ValidArgsFunction: f.SelectionWhere(func(r *agent.Record, _ bool) bool { return !r.Restarts.IsZero() }),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runReset(cmd.Context(), f, o)
		},
	}
	cmd.Flags().BoolVar(&o.All, "all", false, "all agents of the project")
	return f.WithJSON(cmd)
}

func runReset(ctx context.Context, f *ui.Factory, o *ui.Selection) error {
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "reset")
	}
	handles, err := o.Resolve(ctx, s, func(inspect.Row) bool { return true })
	if err != nil {
		return ui.Failed(err, "reset")
	}
	return f.Each(ctx, "reset", handles, o.Several(), 1, func(handle agent.Handle) (ui.Outcome, error) {
		r, was, err := s.Reset(ctx, handle)
		if err != nil {
			return ui.Outcome{}, err
		}
		words := "nothing was held"
		switch {
		case was.Hold != nil:
			words = fmt.Sprintf("no longer held; the reason was (%s): %s", was.Hold.Class, was.Hold.Reason)
		case len(was.Counted) > 0:
			words += "; " + human.Count(len(was.Counted), "failure") + " forgotten"
		}
		return ui.Outcome{JSON: wire.NewReset(r.Handle, was), Handle: r.Handle, Words: words}, nil
	})
}
