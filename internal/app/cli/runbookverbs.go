package cli

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/recovery/runbook"
)

// ownVerbs runs the verbs of this program for a runbook: in this process, so that a verb has the
// runbook's caller, and is interrupted and killed with it.
type ownVerbs struct{ *factory }

// notInSteps are the commands that no step runs, and why.
var notInSteps = map[string]string{
	"runbook":    "a runbook does not run another one",
	"attach":     "it takes a person's terminal",
	"watch":      "it does not end",
	"serve":      "it does not end",
	"run":        "it takes a person's terminal",
	"allow":      "it is for a person",
	"hook":       "claude calls it",
	"statusline": "claude calls it",
	"help":       "it does nothing",
}

// Check implements [runbook.Verbs]. Errors: BadInput.
func (v *ownVerbs) Check(args []string) error {
	root := newRootCmd(&factory{}, args...)
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root {
		return errUnknownCommand(root, args[0])
	}
	if why := notInSteps[args[0]]; why != "" {
		return fail.Errorf(fail.BadInput, "%s is for no step: %s", args[0], why)
	}
	if err := checkLine(cmd, rest); err != nil {
		return inOurWords(err)
	}
	if isEndless(cmd) {
		return fail.Errorf(fail.BadInput, "%s is for no step: it does not end", strings.Join(args, " "))
	}
	return nil
}

// isEndless reports whether a verb goes on until it is interrupted, by the flags that were read of it.
func isEndless(cmd *cobra.Command) bool {
	has := func(name string) bool {
		flag := cmd.Flags().Lookup(name)
		return flag != nil && flag.Value.String() == "true"
	}
	return has("follow") || strings.HasSuffix(cmd.CommandPath(), " memory work") && !has("once")
}

// checkLine reads the command line of a verb, and does not run it.
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

// Run implements [runbook.Verbs]. A verb is given no input; with --json its output is kept.
func (v *ownVerbs) Run(ctx context.Context, args []string) runbook.Outcome {
	streams := v.streams
	streams.In, streams.InTTY = strings.NewReader(""), false
	var out, errs bytes.Buffer
	if v.json {
		streams = Streams{In: streams.In, Out: &out, Err: &errs}
	}
	v.note("$ %s", commandLine(args))
	before := os.Environ()
	code := execute(ctx, v.here(args), streams)
	if err := restoreEnvironment(before); err != nil {
		return runbook.Outcome{Code: int(fail.Failed), Out: out.String(), Errors: err.Error()}
	}
	return runbook.Outcome{Code: code, Out: out.String(), Errors: errs.String()}
}

// restoreEnvironment undoes what a verb that an agent calls does to the environment of this process: the next
// verb would act on the project and the tmux server of the agent, and not on those of the runbook.
func restoreEnvironment(before []string) error {
	if slices.Equal(os.Environ(), before) {
		return nil
	}
	return replaceEnvironment(before)
}

// here has a verb act on the project of this call.
func (v *ownVerbs) here(args []string) []string {
	var flags []string
	if v.root != "" {
		flags = append(flags, "--root="+v.root)
	}
	if v.socket != "" {
		flags = append(flags, "--tmux-socket="+v.socket)
	}
	return slices.Concat(args[:1], flags, args[1:])
}
