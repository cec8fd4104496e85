package cli

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

// printJSON writes one value on one line.
func (f *factory) printJSON(value any) error { return writeJSON(f.streams.Out, value) }

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

// printError prints an error, on one line unless it quotes a multi-line text, and each remedy on its own line. With
// --json it prints one object.
func (f *factory) printError(handle agent.Handle, err error) {
	if f.json {
		_ = writeJSON(f.streams.Err, f.failure(handle, err)) // a failed write to stderr cannot be reported
		return
	}
	fmt.Fprintf(f.streams.Err, "nbs-worker: %s\n", indented(human.Legible(err.Error())))
	for _, hint := range f.hintsOf(err) {
		f.hint("%s", hint)
	}
}

// failure returns an error in its JSON form.
func (f *factory) failure(handle agent.Handle, err error) wire.Failure {
	hints := agent.Mapped(f.hintsOf(err), func(hint string) string { return strings.TrimPrefix(f.pasteable("hint: "+hint), "hint: ") })
	message := err.Error()
	if verb, ok := errors.AsType[*verbError](err); ok && handle != "" {
		message = verb.err.Error() // the handle is a separate field
	}
	return wire.NewFailure(handle, f.kindOf(err), message, hints)
}

// kindOf returns the kind of an error. An error from parsing the command line is BadInput.
func (f *factory) kindOf(err error) fail.Kind {
	if _, atWork := errors.AsType[*verbError](err); !atWork {
		return fail.BadInput
	}
	return fail.KindOf(err)
}

// line writes a text to stderr and indents all lines after the first; with --json as an object.
func (f *factory) line(text string) {
	if f.json {
		_ = writeJSON(f.streams.Err, wire.Note{Note: text})
		return
	}
	fmt.Fprintln(f.streams.Err, indented(human.Legible(text)))
}

// hint prints a remedy. Its commands act on the project of this call.
func (f *factory) hint(format string, args ...any) {
	f.line(f.pasteable("hint: " + fmt.Sprintf(format, args...)))
}

// note prints a message for a person at a terminal; a script has the exit code.
func (f *factory) note(format string, args ...any) {
	if f.streams.ErrTTY && !f.json {
		f.line(f.pasteable(fmt.Sprintf(format, args...)))
	}
}

// say prints a line on stderr, for scripts too, about an effect beyond the request.
func (f *factory) say(format string, args ...any) {
	f.line("nbs-worker: " + fmt.Sprintf(format, args...))
}

// sayNote prints additional information about the output.
func (f *factory) sayNote(note string) { f.line("note: " + note) }
