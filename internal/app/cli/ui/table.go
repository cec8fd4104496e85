package ui

import (
	"bufio"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
)

// Table has two formats. On a terminal it has a header, aligned columns that fit, colours and relative times. In a pipe
// it has only tabs.
type Table struct {
	*Factory
	out  *bufio.Writer
	rows [][]Cell // for people, until all are there
	Now  time.Time

	header []string
	Under  int // if the table is too wide, at least this many of the last columns are printed below their row, by name
}

// Cell is one field; colour is an ANSI code of two digits.
type Cell struct {
	Text     string
	Colour   string
	CutStart bool // if it is too long, its end is shown
	Whole    bool // other columns are cut in its place, unless it takes more than half of the terminal
}

// Colours are ANSI codes of two digits.
const (
	Plain  = ""
	Bold   = "01"
	Dim    = "02"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	cyan   = "36"
)

// Coloured colours a text if colours are on.
func (f *Factory) Coloured(colour, text string) string {
	if !f.Streams.Color || colour == Plain {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// NewTable returns a table with these columns; without a header if there are none.
func (f *Factory) NewTable(header ...string) *Table {
	const whole = 64 << 10 // bytes: so that the reader is woken once
	t := &Table{Factory: f, Now: time.Now(), out: bufio.NewWriterSize(f.Streams.Out, whole), header: header}
	if f.Streams.OutTTY && len(header) > 0 {
		t.Row(agent.Mapped(header, func(name string) Cell { return Cell{Text: name, Colour: Bold} })...)
	}
	return t
}

// Row adds a row.
func (t *Table) Row(cells ...Cell) {
	for i := range cells {
		cells[i].Text = OneLine(cells[i].Text)
	}
	if t.Streams.OutTTY {
		t.rows = append(t.rows, cells)
		return
	}
	for i, c := range cells {
		if i > 0 {
			_ = t.out.WriteByte('\t') // the writer keeps its first error
		}
		_, _ = t.out.WriteString(c.Text)
	}
	_ = t.out.WriteByte('\n')
}

const gap = 2 // columns between two columns

// Flush prints what was not printed yet.
func (t *Table) Flush() error {
	widths := t.fitted()
	across := len(widths)
	for n, row := range t.rows {
		var line strings.Builder
		for i, c := range row[:min(across, len(row))] {
			shown := c.cut(widths[i])
			padding := strings.Repeat(" ", widths[i]-columns(shown)+gap)
			line.WriteString(t.Coloured(c.Colour, shown) + padding)
		}
		_, _ = t.out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if n > 0 && across < len(row) { // not the header
			t.below(row, across)
		}
	}
	return t.out.Flush()
}

// fitted returns the widths of the columns that stand side by side. Those that do not fit the terminal at a readable
// width are left out, the last ones first: they are printed below each row.
func (t *Table) fitted() []int {
	natural, least := t.natural()
	if t.fits(natural) {
		return natural
	}
	across := max(len(natural)-t.Under, 0)
	widths := t.narrowed(natural[:across], least)
	for len(t.header) > 0 && across > 1 && !t.fits(widths) {
		across--
		widths = t.narrowed(natural[:across], least)
	}
	return widths
}

func (t *Table) fits(widths []int) bool {
	return t.Streams.Width <= 0 || total(widths) <= t.Streams.Width
}

// cut returns the text at a width.
func (c *Cell) cut(width int) string {
	if !c.CutStart || columns(c.Text) <= width {
		return human.Cut(c.Text, width, displaywidth.Rune)
	}
	for at := range c.Text {
		if end := "…" + c.Text[at:]; columns(end) <= width {
			return end
		}
	}
	return ""
}

// below prints the fields of a row that have no column, each with its name. Short ones share a line.
func (t *Table) below(row []Cell, from int) {
	const indent = 4
	line := ""
	for i := from; i < len(row); i++ {
		if row[i].Text == "-" || row[i].Text == "" {
			continue
		}
		field := strings.ToLower(t.header[i]) + ": " + row[i].Text
		if line != "" && indent+columns(line)+gap+columns(field) <= t.Streams.Width {
			line += strings.Repeat(" ", gap) + field
			continue
		}
		t.printBelow(indent, line)
		line = field
	}
	t.printBelow(indent, line)
}

func (t *Table) printBelow(indent int, line string) {
	if line != "" {
		_, _ = t.out.WriteString(strings.Repeat(" ", indent) + Hanging(line, indent, t.Streams.Width) + "\n")
	}
}

// natural returns the widths of the columns that show each field in full, and those at which they can still be read.
func (t *Table) natural() (widths, least []int) {
	const readable = 10
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths, least = append(widths, 0), append(least, readable)
			}
			width := columns(c.Text)
			widths[i] = max(widths[i], width)
			if c.Whole {
				least[i] = max(least[i], min(width, t.Streams.Width/2))
			}
		}
	}
	return widths, least
}

// total returns the width of a line with these columns.
func total(widths []int) int {
	sum := -gap
	for _, width := range widths {
		sum += width + gap
	}
	return sum
}

// narrowed returns the widths at which the columns fit the terminal. The widest columns shrink first, each not below its
// least width.
func (t *Table) narrowed(natural, least []int) []int {
	widths := slices.Clone(natural)
	for !t.fits(widths) {
		widest := -1
		for i, width := range widths {
			if width > least[i] && (widest < 0 || width > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// OneLine returns a text in a form that fits a field.
func OneLine(text string) string {
	if isPlain(text) {
		return text
	}
	return strings.Map(blank, human.Legible(text))
}

// blank keeps a field in its column.
func blank(r rune) rune {
	if r == '\t' || r == '\n' {
		return ' '
	}
	return r
}

// Time returns the cell of a time.
func (t *Table) Time(at time.Time) Cell {
	if at.IsZero() {
		return Text("")
	}
	return Text(t.shownTime(at, t.Now))
}

// Number returns the cell of a number.
func Number(n int64) Cell { return Text(strconv.FormatInt(n, 10)) }

// Text returns the cell of a text.
func Text(s string) Cell {
	if s == "" {
		s = "-"
	}
	return Cell{Text: s}
}

// PID formats the pid of a running process; that of a dead one may belong to another process.
func PID(n int, status agent.Status) Cell {
	if n == 0 || !status.SamePID {
		return Text("")
	}
	return Text(strconv.Itoa(n))
}

// State returns the cell of an agent's state, which tells more than what stands beside it.
func State(status agent.Status) Cell {
	colour := Plain
	switch {
	case status.State == agent.Idle || status.State == agent.Busy:
		colour = Green
	case status.State == agent.TurnFailed:
		colour = Red
	case status.State == agent.Waiting || status.State == agent.Unknown || status.State == agent.Starting || status.State == agent.Retrying || status.State == agent.Backoff:
		colour = Yellow
	case status.Cause != agent.Stopped && status.Cause != agent.Exited:
		colour = Red
	}
	return Cell{Text: status.Word(), Colour: colour, Whole: true}
}
