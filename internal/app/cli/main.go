// Package cli is the command line: the root of the command tree, and the rights of each verb. The commands are in the
// packages agents, messages, chat, memory and ops, one file per command; they share package ui. A command binds flags to
// an options struct and passes it to a function that does not use cobra. Data goes to stdout, everything else to
// stderr. Only these packages handle colours, widths and exit codes; only main exits.
package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/hosts"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/platform/machine/local"
)

// Main runs the program with the arguments and returns its exit code.
func Main(args []string, streams ui.Streams) int {
	return execute(context.Background(), args, streams)
}

// MainAt is Main by a clock that a test sets. What conversations, schedules and chats do by the clock follows it.
func MainAt(now func() time.Time, args []string, streams ui.Streams) int {
	f := newFactory(args, streams)
	f.Now = now
	return perform(context.Background(), f)
}

// newFactory returns what the commands of a command line need.
func newFactory(args []string, streams ui.Streams) *ui.Factory {
	return &ui.Factory{
		Streams: streams, Machine: local.New(), Now: time.Now, Began: time.Now().UTC(), Args: args, Version: version(), Powers: powers, Execute: execute,
		Tree: func(args ...string) *cobra.Command { return newRootCmd(newFactory(args, ui.Streams{}), args...) },
	}
}

// execute runs one command line.
func execute(ctx context.Context, args []string, streams ui.Streams) int {
	return perform(ctx, newFactory(args, streams))
}

// perform runs the command line of a factory.
func perform(ctx context.Context, f *ui.Factory) int {
	args, streams := f.Args, f.Streams
	ctx, stop := f.UntilInterrupted(ctx)
	defer stop()
	defer f.Close()
	if f.Streams.Host == "" && hosts.MayName(args) {
		if is, err := hosts.Elsewhere(ctx, f); is {
			return f.Reported(err)
		}
	}
	root := newRootCmd(f, args...) //nolint:contextcheck // its commands get the context from cobra
	root.SetArgs(args)
	root.SetIn(streams.In)
	out := &ui.Watched{To: streams.Out}
	root.SetOut(out)
	root.SetErr(streams.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = ui.Failed(out.Failure, "print")
	}
	if _, atWork := errors.AsType[*ui.VerbError](err); !atWork && asksForJSON(args) {
		f.JSON = true // parsing stopped before --json
	}
	return f.Reported(err)
}

// asksForJSON reports whether a command line that cannot be parsed asks for JSON errors.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		value, given := strings.CutPrefix(arg, "--json=")
		asked, err := strconv.ParseBool(value)
		return arg == "--json" || given && (asked || err != nil)
	})
}
