package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// PrintJSON writes one value on one line.
func (f *Factory) PrintJSON(value any) error { return writeJSON(f.Streams.Out, value) }

func writeJSON(to io.Writer, value any) error {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(to, escaped(text.String()))
	return err
}

// escaped replaces characters that encoding/json leaves unescaped although they control a terminal or are invisible:
// the control characters 7F to 9F, and invisible ones.
func escaped(text string) string {
	if !strings.ContainsFunc(text, human.IsUnclear) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !human.IsUnclear(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// PrintError prints an error, on one line unless it quotes a multi-line text, and each remedy on its own line. With
// --json it prints one object.
func (f *Factory) PrintError(handle agent.Handle, err error) {
	if f.JSON {
		_ = writeJSON(f.Streams.Err, f.FailureOf(handle, err)) // a failed write to stderr cannot be reported
		return
	}
	f.Line("nbs-worker: " + err.Error())
	for _, hint := range f.hintsOf(err) {
		f.Hint("%s", hint)
	}
}

// FailureOf returns an error in its JSON form.
func (f *Factory) FailureOf(handle agent.Handle, err error) wire.Failure {
	hints := agent.Mapped(f.hintsOf(err), func(hint string) string { return strings.TrimPrefix(f.Pasteable("hint: "+hint), "hint: ") })
	message := err.Error()
	if verb, ok := errors.AsType[*VerbError](err); ok && handle != "" {
		message = verb.err.Error() // the handle is a separate field
	}
	return wire.NewFailure(handle, f.kindOf(err), message, hints)
}

// kindOf returns the kind of an error. An error from parsing the command line is BadInput.
func (f *Factory) kindOf(err error) fail.Kind {
	if _, atWork := errors.AsType[*VerbError](err); !atWork {
		return fail.BadInput
	}
	return fail.KindOf(err)
}

// Line writes a text to stderr and indents all lines after the first; with --json as an object.
func (f *Factory) Line(text string) {
	if f.JSON {
		_ = writeJSON(f.Streams.Err, wire.Note{Note: text})
		return
	}
	text = Indented(human.Legible(text))
	if f.Streams.ErrTTY && f.Streams.Width > 0 {
		text = folded(text, f.Streams.Width)
	}
	fmt.Fprintln(f.Streams.Err, text)
}

// folded wraps each line to width columns. A line with a command of another program stays unbroken for pasting, and so
// does a first line with a margin: what is shown for a person's consent.
func folded(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		bare := strings.TrimLeft(line, " ")
		margin := len(line) - len(bare)
		switch {
		case i > 0 && margin > 0:
			lines[i] = line[:margin] + Hanging(bare, margin, width)
		case margin == 0 && !isForPasting(line):
			lines[i] = Hanging(line, 2, width)
		}
	}
	return strings.Join(lines, "\n")
}

// isForPasting reports whether a line is to stay whole: a hint with nothing before its command, or with a command that
// Hanging does not recognise.
func isForPasting(line string) bool {
	if strings.HasPrefix(line, "hint: nbs-worker ") {
		return true
	}
	return !strings.Contains(line, ": nbs-worker ") && (strings.HasPrefix(line, "hint: ") || strings.Contains(line, ": git "))
}

// Hint prints a remedy. Its commands act on the project of this call.
func (f *Factory) Hint(format string, args ...any) {
	f.Line(f.Pasteable("hint: " + fmt.Sprintf(format, args...)))
}

// Note prints a message for a person at a terminal; a script has the exit code.
func (f *Factory) Note(format string, args ...any) {
	if f.Streams.ErrTTY && !f.JSON {
		f.Line(f.Pasteable(fmt.Sprintf(format, args...)))
	}
}

// Say prints a line on stderr, for scripts too, about an effect beyond the request.
func (f *Factory) Say(format string, args ...any) {
	f.Line("nbs-worker: " + fmt.Sprintf(format, args...))
}

// SayNote prints additional information about the output.
func (f *Factory) SayNote(note string) { f.Line("note: " + note) }

// Progress returns a function that shows a person what a slow start waits for.
func (f *Factory) Progress(handle agent.Handle) func(string) {
	return func(what string) { f.Note("%s: %s", handle, what) }
}
