// Package fail provides errors with a kind, which is the program's exit code, and remedies for people.
package fail

import (
	"errors"
	"fmt"
	"slices"
)

// Kind classifies an error for the caller. Its numbers are the published exit codes of the program.
type Kind int

// The kinds of failure, by exit code.
const (
	Failed      Kind = 1   // it was tried and did not work
	NotFound    Kind = 2   // no such agent, record, conversation or transcript
	TimedOut    Kind = 3   // not observed in time
	BadInput    Kind = 4   // bad arguments or bad input
	Conflict    Kind = 5   // already running, lock or lease held, name taken
	Unfit       Kind = 6   // a dependency is missing or unfit
	Partial     Kind = 7   // some of several failed
	Held        Kind = 8   // a person is needed
	Interrupted Kind = 130 // the caller's own interrupt
)

// Error is a failure with a kind and, optionally, remedies.
type Error struct {
	Kind  Kind
	Err   error
	Hints []string // what to do next; a command among the words can be pasted
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Errorf creates an Error of the kind. The format's %w wraps as in [fmt.Errorf].
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// Hint adds a remedy and returns the error, for use at the point of return.
func (e *Error) Hint(format string, args ...any) *Error {
	e.Hints = append(e.Hints, fmt.Sprintf(format, args...))
	return e
}

// HintsOf adds the remedies of a cause that the error does not wrap, and returns the error.
func (e *Error) HintsOf(cause error) *Error {
	e.Hints = append(e.Hints, HintsOf(cause)...)
	return e
}

// KindOf returns the kind of the outermost Error in err's chain, and Failed for any other error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Failed
}

// HintsOf returns the hints of every Error in err's tree, outermost first.
func HintsOf(err error) []string {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case *Error:
		return append(slices.Clone(e.Hints), HintsOf(e.Err)...)
	case interface{ Unwrap() error }:
		return HintsOf(e.Unwrap())
	case interface{ Unwrap() []error }:
		var hints []string
		for _, joined := range e.Unwrap() {
			hints = append(hints, HintsOf(joined)...)
		}
		return hints
	}
	return nil
}
