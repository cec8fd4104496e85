package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nbs-worker/internal/fail"
)

// ExitError ends the program with a code and without a message. The launcher passes on claude's exit code with it.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// VerbError is an error of a running verb: "resume alpha: cause". Any other error comes from parsing the command line.
type VerbError struct {
	what string
	err  error
}

func (e *VerbError) Error() string { return e.what + ": " + e.err.Error() }

func (e *VerbError) Unwrap() error { return e.err }

// Failed adds the verb and its arguments to an error.
func Failed(err error, what ...string) error {
	if err == nil {
		return nil
	}
	return &VerbError{what: strings.Join(what, " "), err: err}
}

// Looked is failed for a read-only verb: its interruption needs no message.
func Looked(err error, what ...string) error {
	if errors.Is(err, context.Canceled) {
		return ExitError(fail.Interrupted)
	}
	return Failed(err, what...)
}

// Partial is the outcome of a verb with several targets. The causes have already been reported.
type Partial struct { //nolint:errname // it is a sum of errors
	Failures []error
	Of       int
}

func (p *Partial) Error() string { return fmt.Sprintf("%d of %d failed", len(p.Failures), p.Of) }

// Failed returns the error; nil if all succeeded.
func (p *Partial) Failed() error {
	if len(p.Failures) == 0 {
		return nil
	}
	return p
}

// kind returns Partial if some succeeded, otherwise the kind that the failures share. An interrupt has priority.
func (p *Partial) kind() fail.Kind {
	if slices.ContainsFunc(p.Failures, func(err error) bool { return fail.KindOf(err) == fail.Interrupted }) {
		return fail.Interrupted
	}
	if len(p.Failures) < p.Of {
		return fail.Partial
	}
	first := fail.KindOf(p.Failures[0])
	if slices.ContainsFunc(p.Failures, func(err error) bool { return fail.KindOf(err) != first }) {
		return fail.Failed
	}
	return first
}

// Reported is Report of an error that may be nil.
func (f *Factory) Reported(err error) int {
	if err == nil {
		return 0
	}
	return f.Report(err)
}

// Report prints an error and returns its exit code.
func (f *Factory) Report(err error) int {
	if code, ok := errors.AsType[ExitError](err); ok {
		return int(code)
	}
	if several, ok := errors.AsType[*Partial](err); ok {
		return int(several.kind())
	}
	err = InOurWords(err)
	f.PrintError("", err)
	return int(f.kindOf(err))
}
