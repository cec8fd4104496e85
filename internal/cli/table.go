package cli

import (
	"bufio"
	"cmp"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"nbs-worker/internal/agent"
)

// table has two readers. On a terminal it has a header, aligned columns, colours and
// relative times; in a pipe it has tabs and nothing else.
type table struct {
	out    buffered
	line   []byte // that is being written
	people bool
	color  bool
	now    time.Time
	failed error // of the first row that could not be written
}

// buffered is where rows are collected: a system call for each would be most of what a
// long table costs.
type buffered interface {
	io.Writer
	Flush() error
}

// cell is one field; colour is an ANSI code of two digits.
type cell struct {
	text   string
	colour string
}

const plain, red, green, yellow = "00", "31", "32", "33"

func (f *factory) newTable(header ...string) *table {
	t := &table{people: f.streams.OutTTY, color: f.streams.Color, now: time.Now()}
	if !t.people {
		const whole = 64 << 10 // bytes: who reads is woken once
		t.out = bufio.NewWriterSize(f.streams.Out, whole)
		return t
	}
	t.out = tabwriter.NewWriter(f.streams.Out, 0, 0, 2, ' ', 0)
	cells := make([]cell, len(header))
	for i, name := range header {
		cells[i] = cell{text: name, colour: "01"}
	}
	t.row(cells...)
	return t
}

func (t *table) row(cells ...cell) {
	t.line = t.line[:0]
	for i, c := range cells {
		if i > 0 {
			t.line = append(t.line, '\t')
		}
		if t.color { // each field gets equally long codes, so that columns stay aligned
			t.line = append(append(append(t.line, "\x1b["...), c.colour...), 'm')
		}
		t.line = append(t.line, oneLine(c.text)...)
		if t.color {
			t.line = append(t.line, "\x1b[0m"...)
		}
	}
	if _, err := t.out.Write(append(t.line, '\n')); t.failed == nil {
		t.failed = err
	}
}

func (t *table) flush() error {
	return cmp.Or(t.failed, t.out.Flush())
}

// oneLine is text as a field can show it.
func oneLine(text string) string {
	if isPlain(text) {
		return text
	}
	return strings.Map(blank, sanitize(text))
}

// blank keeps a field in its column.
func blank(r rune) rune {
	if r == '\t' || r == '\n' {
		return ' '
	}
	return r
}

func (t *table) time(at time.Time) cell {
	switch {
	case at.IsZero():
		return text("")
	case t.people:
		return text(agent.Ago(at, t.now))
	default:
		return text(at.UTC().Format(time.RFC3339))
	}
}

func text(s string) cell {
	if s == "" {
		s = "-"
	}
	return cell{text: s, colour: plain}
}

// pid is shown for a process that runs; the pid of a dead one is anybody's.
func pid(n int, status agent.Status) cell {
	if n == 0 || !status.SamePID {
		return text("")
	}
	return text(strconv.Itoa(n))
}

func state(status agent.Status) cell {
	colour := plain
	switch {
	case status.State == agent.Idle || status.State == agent.Busy:
		colour = green
	case status.State == agent.Waiting || status.State == agent.Unknown || status.State == agent.Starting || status.State == agent.Retrying:
		colour = yellow
	case status.Cause != agent.Stopped && status.Cause != agent.Exited:
		colour = red
	}
	return cell{text: status.Word(), colour: colour}
}
