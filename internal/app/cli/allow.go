package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/portable"
	"nbs-worker/internal/team/recovery/runbook"
	"nbs-worker/internal/team/supervisor"
)

type allowOptions struct {
	selection

	runbook   string
	policy    string
	schedules bool
}

// positional checks the handles. With a flag that names project files there must be no handle.
func (o *allowOptions) positional(cmd *cobra.Command, args []string) error {
	named := cmd.Flags().Changed("runbook")
	if o.policy == "" && !named && !o.schedules {
		return o.selection.positional(cmd, args)
	}
	if len(args) > 0 || o.all || o.policy != "" && o.runbook != "" || o.schedules && (named || o.policy != "") {
		return fail.Errorf(fail.BadInput, "allow: handles, --runbook, --policy and --schedules exclude each other")
	}
	if o.policy != "" || o.schedules {
		return nil
	}
	return runbook.ParseName(o.runbook)
}

// String returns the arguments that name what to allow, as typed.
func (o *allowOptions) String() string {
	if o.runbook != "" {
		return "--runbook " + o.runbook
	}
	if o.policy != "" {
		return "--policy " + human.ShellWord(o.policy)
	}
	if o.schedules {
		return "--schedules"
	}
	return o.selection.String()
}

func newAllowCmd(f *factory) *cobra.Command {
	o := &allowOptions{}
	cmd := &cobra.Command{
		Use:   "allow {<handle>... | --all | --runbook NAME | --policy FILE | --schedules}",
		Short: "Look at what a record or a runbook would run, and allow it",
		Long: withCodes(`A project can come from anywhere, so the files in its .nbs are not trusted by themselves.
Each record carries a seal, made with a key that is yours and that no project holds. Your
commands seal what they write. A record without your seal (from a clone, from the original
tools, or edited) is shown as "not allowed", and nbs-worker starts nothing from it (8).

allow shows everything that the record would run, and asks. Only a person can answer, on a
terminal; an agent cannot. What was typed before the question does not count.

--runbook shows a page in the project's runbooks/. A page runs only as it was allowed, in
the folder where it was allowed: look at it again after a change or a copy. --policy shows a
watch policy that lies in the project. --schedules shows .nbs/schedules.yaml and the prompt
files that it names. The same rule holds for both.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker allow theologian
  nbs-worker allow --all     # of a project that you have brought from elsewhere
  nbs-worker allow --runbook deploy`,
		Args:              o.positional,
		ValidArgsFunction: f.handlesWhere(anybody),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAllow(cmd.Context(), f, o)
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "all agents of the project that are not allowed")
	cmd.Flags().StringVar(&o.runbook, "runbook", "", "name of a page in the project's runbooks/")
	cmd.Flags().StringVar(&o.policy, "policy", "", "file of a watch policy in the project")
	cmd.Flags().BoolVar(&o.schedules, "schedules", false, "the project's schedules, with their prompts")
	completeWith(cmd, "runbook", f.completeBarred)
	return cmd
}

func runAllow(ctx context.Context, f *factory, o *allowOptions) error {
	if !f.streams.InTTY || !f.streams.ErrTTY || !f.streams.OutTTY {
		return failed(fail.Errorf(fail.Held, "only a person can allow, on a terminal").
			Hint("type it in a terminal of yours: nbs-worker allow %s", o), "allow")
	}
	if o.schedules {
		return failed(runAllowSchedules(ctx, f), "allow --schedules")
	}
	if o.policy != "" {
		return failed(runAllowPolicy(ctx, f, o.policy), "allow --policy", o.policy)
	}
	if o.runbook != "" {
		return failed(runAllowRunbook(ctx, f, o.runbook), "allow --runbook", o.runbook)
	}
	s, err := f.supervisor()
	handles := o.handles
	if err == nil && o.all {
		handles, err = s.Store.Handles()
	}
	if err != nil {
		return failed(err, "allow")
	}
	if len(handles) == 0 {
		f.note("there is no agent")
		return nil
	}
	const inOrder = 1 // at a time: each asks a question
	return f.each(ctx, "allow", handles, o.several(), inOrder, func(handle agent.Handle) (outcome, error) {
		return f.allowOne(ctx, s, handle)
	})
}

// allowOne shows what one record would run, and asks for permission.
func (f *factory) allowOne(ctx context.Context, s *supervisor.Supervisor, handle agent.Handle) (outcome, error) {
	asked, err := s.Request(handle)
	if err != nil {
		return outcome{}, err
	}
	done := outcome{json: struct{}{}, handle: asked.Record.Handle, words: "is allowed already"}
	if asked.Allowed {
		return done, nil
	}
	if _, err := fmt.Fprintf(f.streams.Out, "\n%s would run:\n\n", human.Legible(string(handle))); err != nil {
		return outcome{}, err
	}
	if err := f.printLines(requestLines(asked), 0); err != nil {
		return outcome{}, err
	}
	if !f.confirmed(fmt.Sprintf("\nallow %s to run so? [y/N] ", handle)) {
		return outcome{}, fail.Errorf(fail.Failed, "it was not allowed; nothing was changed")
	}
	if err := s.Allow(ctx, asked); err != nil {
		return outcome{}, err
	}
	done.words = "allowed"
	return done, nil
}

// confirmed asks a person at a terminal. Input typed before the question is discarded.
func (f *factory) confirmed(question string) bool {
	if in, ok := f.streams.In.(*os.File); ok {
		portable.DropInput(in) // the callers have checked that it is a terminal
	}
	fmt.Fprint(f.streams.Err, human.Legible(question))
	answer, _ := bufio.NewReader(f.streams.In).ReadString('\n') // the end of the input means no
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// requestLines returns everything that a record would make run, one part a line. Its texts are quoted, so that they
// cannot look like another line.
func requestLines(asked supervisor.Request) []line {
	r := &asked.Record
	var lines []line
	// Long texts first: the rest stands right above the question.
	if r.InitialPrompt != "" {
		lines = append(lines, line{"Prompt", strconv.Quote(r.InitialPrompt)})
	}
	for _, previous := range r.PreviousSessions[max(0, len(r.PreviousSessions)-previousShown):] {
		lines = append(lines, line{"Previous", string(previous.SessionID)})
	}
	if earlier := len(r.PreviousSessions) - previousShown; earlier > 0 {
		lines = append(lines, line{"Previous", "and " + human.Count(earlier, "earlier conversation")})
	}
	lines = append(append(lines, carriedLines(r)...),
		line{"Session ID", string(r.SessionID)},
		line{"Model", modelName(r.Model)},
		line{"Program", cmp.Or(asked.Program, "claude, which is not found now")},
		line{"Folder", strconv.Quote(asked.Folder)},
		line{"Permissions", string(r.LaunchPermissionMode())},
	)
	if p := r.Process; p != nil && p.Tmux.ByPath() {
		lines = append(lines, line{"Tmux socket", strconv.Quote(p.Tmux.Socket)})
	}
	if len(asked.Changed) > 0 {
		lines = append(lines, line{"Changed", "since it was allowed: " + strings.Join(asked.Changed, ", ")})
	}
	return lines
}

// previousShown is how many previous conversations are shown. No message is sent to them.
const previousShown = 5

// carriedLines returns what a record gives an agent besides conversation, model, mode and folder, one part a line.
func carriedLines(r *agent.Record) []line {
	var lines []line
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		lines = append(lines, line{"Variable", name + "=" + strconv.Quote(r.Env[name])})
	}
	if r.MayManage {
		lines = append(lines, line{"Powers", "it may give other agents what it does not have itself"})
	}
	if r.Depth > 0 {
		lines = append(lines, line{"Spawned by", "an agent, " + human.Count(r.Depth, "agent") + " away from a person"})
	}
	return append(lines, line{"Config folder", configFolder(r)}, line{"Arguments", cmp.Or(strings.Join(agent.Mapped(r.ClaudeArgs, strconv.Quote), " "), "none of its own")})
}

func configFolder(r *agent.Record) string {
	switch {
	case r.ConfigDir != "":
		return strconv.Quote(r.ConfigDir)
	case r.Schema == 0:
		return "the one of the command that starts it"
	default:
		return "Claude's own"
	}
}
