package ui

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine/portable"
)

// Dialog asks a person at a terminal, one question after the other. Input typed before a question is discarded.
type Dialog struct {
	f  *Factory
	in *bufio.Reader
}

// Dialog begins a dialog.
func (f *Factory) Dialog() *Dialog { return &Dialog{f, bufio.NewReader(f.Streams.In)} }

// OnTerminal reports whether a person can be asked.
func (f *Factory) OnTerminal() bool { return f.Streams.InTTY && f.Streams.ErrTTY }

// Ask asks for a line. Errors: the context's, BadInput at the end of the input.
func (d *Dialog) Ask(ctx context.Context, question string) (string, error) {
	return d.ask(ctx, question, func() (string, error) { return d.in.ReadString('\n') }, func() {})
}

// Secret is Ask without an echo.
func (d *Dialog) Secret(ctx context.Context, question string) (string, error) {
	in, is := d.f.Streams.In.(*os.File)
	if !is {
		return d.Ask(ctx, question)
	}
	terminal := int(in.Fd())
	before, err := term.GetState(terminal)
	if err != nil {
		return "", err
	}
	defer fmt.Fprintln(d.f.Streams.Err)
	return d.ask(ctx, question, func() (string, error) {
		typed, err := term.ReadPassword(terminal)
		return string(typed), err
	}, func() { _ = term.Restore(terminal, before) })
}

// Yes asks for a yes; anything else is a no.
func (d *Dialog) Yes(ctx context.Context, question string) (bool, error) {
	answer, err := d.Ask(ctx, question)
	return isYes(answer), err
}

func isYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// question writes a question, and discards what was typed before it.
func (f *Factory) question(text string) {
	if in, ok := f.Streams.In.(*os.File); ok {
		portable.DropInput(in) // the callers have checked that it is a terminal
	}
	fmt.Fprint(f.Streams.Err, human.Legible(text))
}

// ask asks a question and reads the answer. restore is called if the person interrupts it: read then waits on.
func (d *Dialog) ask(ctx context.Context, question string, read func() (string, error), restore func()) (string, error) {
	d.f.question(question)
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		restore()
		return "", ctx.Err()
	case a := <-answers:
		if a.err != nil && a.text == "" {
			return "", fail.Errorf(fail.BadInput, "the input ended before the answer to: %s", strings.TrimSpace(question))
		}
		return strings.TrimSpace(a.text), nil
	}
}
