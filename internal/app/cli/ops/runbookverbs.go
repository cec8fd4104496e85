package ops

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/recovery/runbook"
)

// Verbs runs this program's verbs for a runbook, in this process. So a verb has the runbook's caller, and is
// interrupted and killed with it.
type Verbs struct{ *ui.Factory }

// notInSteps are the commands that a step cannot run, and why.
var notInSteps = map[string]string{
	"runbook":    "a runbook does not run another one",
	"attach":     "it takes a person's terminal",
	"next":       "it takes a person's terminal",
	"dash":       "it takes a person's terminal",
	"watch":      "it does not end",
	"serve":      "it does not end",
	"run":        "it takes a person's terminal",
	"allow":      "it is for a person",
	"hook":       "claude calls it",
	"statusline": "claude calls it",
	"help":       "it does nothing",
}

// Check implements [runbook.Verbs]. Errors: BadInput.
func (v *Verbs) Check(args []string) error {
	root := v.Tree(args...)
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root {
		return ui.ErrUnknownCommand(root, args[0])
	}
	if why := notInSteps[args[0]]; why != "" {
		return fail.Errorf(fail.BadInput, "%s is not allowed in a step: %s", args[0], why)
	}
	if err := checkLine(cmd, rest); err != nil {
		return ui.InOurWords(err)
	}
	if isEndless(cmd) {
		return fail.Errorf(fail.BadInput, "%s is not allowed in a step: it does not end", strings.Join(args, " "))
	}
	return nil
}

// isEndless reports whether a verb runs until it is interrupted, given its parsed flags.
func isEndless(cmd *cobra.Command) bool {
	has := func(name string) bool {
		flag := cmd.Flags().Lookup(name)
		return flag != nil && flag.Value.String() == "true"
	}
	return has("follow") || has("watch") || strings.HasSuffix(cmd.CommandPath(), " memory work") && !has("once")
}

// checkLine parses the command line of a verb without running it.
func checkLine(cmd *cobra.Command, args []string) error {
	if err := cmd.ParseFlags(args); err != nil {
		return cmd.FlagErrorFunc()(cmd, err)
	}
	if err := cmd.ValidateRequiredFlags(); err != nil {
		return err
	}
	if err := cmd.ValidateFlagGroups(); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// Run implements [runbook.Verbs]. A verb gets no input; with --json its output is captured.
func (v *Verbs) Run(ctx context.Context, args []string) runbook.Outcome {
	streams := v.Streams
	streams.In, streams.InTTY = strings.NewReader(""), false
	var out, errs bytes.Buffer
	if v.JSON {
		streams = ui.Streams{In: streams.In, Out: &out, Err: &errs}
	}
	v.Note("$ %s", commandLine(args))
	before := os.Environ()
	code := v.Execute(ctx, v.here(args), streams)
	if err := restoreEnvironment(before); err != nil {
		return runbook.Outcome{Code: int(fail.Failed), Out: out.String(), Errors: err.Error()}
	}
	return runbook.Outcome{Code: code, Out: out.String(), Errors: errs.String()}
}

// restoreEnvironment undoes the changes that an agent's verb makes to this process's environment. Otherwise the next
// verb would act on the agent's project and tmux server, not on those of the runbook.
func restoreEnvironment(before []string) error {
	if slices.Equal(os.Environ(), before) {
		return nil
	}
	return ui.ReplaceEnvironment(before)
}

// here makes a verb act on the project of this call.
func (v *Verbs) here(args []string) []string {
	var flags []string
	if v.Root != "" {
		flags = append(flags, "--root="+v.Root)
	}
	if v.Socket != "" {
		flags = append(flags, "--tmux-socket="+v.Socket)
	}
	return slices.Concat(args[:1], flags, args[1:])
}
