package ui

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/history"
)

// toolTextShown is how many bytes of a tool's input or output are shown to people.
const toolTextShown = 2000

// PrintSaid prints a message of a conversation.
func (f *Factory) PrintSaid(m history.Said) error {
	if f.JSON {
		return f.PrintJSON(wire.NewSaid(m))
	}
	who, colour, words := string(m.Speaker), Dim, m.Text
	switch {
	case m.Failure != "":
		who, colour = "agent, API error "+m.Failure, Red
	case m.Speaker == "compacted":
		return f.printRule(f.moment(m.At)+" "+m.Text, Yellow)
	case m.Speaker == "you" && !m.Aside:
		colour = cyan
	case m.Speaker == "agent" && !m.Aside:
		colour = Green
	case m.Speaker == "tool":
		who, words = strings.TrimSpace("tool "+m.Tool), shortened(m.Text, toolTextShown)
	}
	if m.Subagent {
		who = "subagent, " + who
	}
	if m.Bytes > 0 {
		words += fmt.Sprintf(" [... cut: a record of %s]", human.Bytes(uint64(m.Bytes)))
	}
	words = Indented(human.Legible(strings.TrimRight(words, "\n")))
	_, err := fmt.Fprintf(f.Streams.Out, "%s %s %s\n", f.moment(m.At), f.Coloured(colour, OneLine(who)+":"), words)
	return err
}

// moment formats the time at the start of a line.
func (f *Factory) moment(at time.Time) string {
	switch {
	case at.IsZero():
		return "-"
	case f.Streams.OutTTY:
		return at.Local().Format(time.DateTime)
	default:
		return at.UTC().Format(time.RFC3339)
	}
}

// shortened cuts a text, and marks the cut.
func shortened(text string, limit int) string {
	end := human.Prefix(text, limit, utf8.RuneLen)
	if end == len(text) {
		return text
	}
	return fmt.Sprintf("%s [... and %s bytes more]", text[:end], human.Thousands(len(text)-end))
}

// PrintLogSession prints the heading of a conversation, before its messages.
func (f *Factory) PrintLogSession(s history.LogSession) error {
	words := "conversation " + string(s.SessionID)
	if !s.Until.IsZero() {
		words += ", until " + s.Until.UTC().Format(time.RFC3339)
	}
	if s.Reason != "" {
		words += " (" + human.Word(s.Reason) + ")"
	}
	if s.Gone {
		words += ": no transcript"
	}
	if f.JSON {
		return f.PrintJSON(wire.NewSaidSession(s, words))
	}
	return f.printRule(words, Yellow)
}

func (f *Factory) printRule(words, colour string) error {
	_, err := fmt.Fprintln(f.Streams.Out, f.Coloured(colour, "---- "+OneLine(words)+" ----"))
	return err
}
