// Package cli is the command line: the cobra tree, one file per command, and all output. A command binds flags to an
// options struct and passes it to a function that does not use cobra. Data goes to stdout, everything else to stderr.
// Only this package handles colours, widths and exit codes; only main exits.
package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
)

// Main runs the program with the arguments and returns its exit code.
func Main(args []string, streams Streams) int {
	return execute(context.Background(), args, streams)
}

// execute runs one command line.
func execute(ctx context.Context, args []string, streams Streams) int {
	f := &factory{streams: streams, machine: local.New(), began: time.Now().UTC(), args: args}
	ctx, stop := f.untilInterrupted(ctx)
	defer stop()
	defer f.close()
	root := newRootCmd(f, args...)
	root.SetArgs(args)
	root.SetIn(streams.In)
	out := &watched{to: streams.Out}
	root.SetOut(out)
	root.SetErr(streams.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = failed(out.failure, "print")
	}
	if err == nil {
		return 0
	}
	if _, atWork := errors.AsType[*verbError](err); !atWork && asksForJSON(args) {
		f.json = true // parsing stopped before --json
	}
	return f.report(err)
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

// exitError ends the program with a code and without a message. The launcher passes on claude's exit code with it.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// verbError is an error of a running verb: "resume alpha: cause". Any other error comes from parsing the command line.
type verbError struct {
	what string
	err  error
}

func (e *verbError) Error() string { return e.what + ": " + e.err.Error() }

func (e *verbError) Unwrap() error { return e.err }

// failed adds the verb and its arguments to an error.
func failed(err error, what ...string) error {
	if err == nil {
		return nil
	}
	return &verbError{what: strings.Join(what, " "), err: err}
}

// looked is failed for a read-only verb: its interruption needs no message.
func looked(err error, what ...string) error {
	if errors.Is(err, context.Canceled) {
		return exitError(fail.Interrupted)
	}
	return failed(err, what...)
}

// partial is the outcome of a verb with several targets. The causes have already been reported.
type partial struct {
	failures []error
	of       int
}

func (p *partial) Error() string { return fmt.Sprintf("%d of %d failed", len(p.failures), p.of) }

// failed returns the error; nil if all succeeded.
func (p *partial) failed() error {
	if len(p.failures) == 0 {
		return nil
	}
	return p
}

// kind returns Partial if some succeeded, otherwise the kind that the failures share. An interrupt has priority.
func (p *partial) kind() fail.Kind {
	if slices.ContainsFunc(p.failures, func(err error) bool { return fail.KindOf(err) == fail.Interrupted }) {
		return fail.Interrupted
	}
	if len(p.failures) < p.of {
		return fail.Partial
	}
	first := fail.KindOf(p.failures[0])
	if slices.ContainsFunc(p.failures, func(err error) bool { return fail.KindOf(err) != first }) {
		return fail.Failed
	}
	return first
}

// report prints an error and returns its exit code.
func (f *factory) report(err error) int {
	if code, ok := errors.AsType[exitError](err); ok {
		return int(code)
	}
	if several, ok := errors.AsType[*partial](err); ok {
		return int(several.kind())
	}
	err = inOurWords(err)
	f.printError("", err)
	return int(f.kindOf(err))
}
