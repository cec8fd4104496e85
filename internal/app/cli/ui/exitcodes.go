package ui

import (
	"fmt"
	"slices"
	"strings"

	"nbs-worker/internal/fail"
)

// ExitCode is one row of the published table.
type ExitCode struct {
	Code    fail.Kind
	meaning string
}

// ExitCodes are the published exit codes.
var ExitCodes = []ExitCode{
	{0, "done, and observed"},
	{fail.Failed, "failed"},
	{fail.NotFound, "not found: no such agent, record, conversation or transcript"},
	{fail.TimedOut, "timed out"},
	{fail.BadInput, "bad arguments or bad input"},
	{fail.Conflict, "conflict: already running, lock or lease held, name taken"},
	{fail.Unfit, "a dependency is missing or unfit: tmux, claude"},
	{fail.Partial, "partly done: some of several"},
	{fail.Held, "held: a person is needed: login, first-run dialog, a record to allow"},
	{fail.Interrupted, "interrupted"},
}

// exitCodes begins the table of exit codes in the text of a command.
const exitCodes = "\n\nExit codes:"

// WithCodes appends the exit codes of a command to its help.
func WithCodes(long string, codes ...fail.Kind) string {
	var b strings.Builder
	b.WriteString(long + exitCodes)
	for _, row := range ExitCodes {
		if row.Code == 0 || slices.Contains(codes, row.Code) {
			fmt.Fprintf(&b, "\n  %3d  %s", row.Code, row.meaning)
		}
	}
	return b.String()
}
