package cli

import (
	"bufio"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
)

// table has two formats. On a terminal it has a header, aligned columns that fit, colours and relative times. In a pipe
// it has only tabs.
type table struct {
	*factory
	out  *bufio.Writer
	rows [][]cell // for people, until all are there
	now  time.Time

	header []string
	under  int // if the table is too wide, this many of the last columns are printed below their row, by name
}

// cell is one field; colour is an ANSI code of two digits.
type cell struct {
	text   string
	colour string
}

const plain, bold, dim, red, green, yellow, cyan = "", "01", "02", "31", "32", "33", "36"

// coloured colours a text if colours are on.
func (f *factory) coloured(colour, text string) string {
	if !f.streams.Color || colour == plain {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func (f *factory) newTable(header ...string) *table {
	const whole = 64 << 10 // bytes: so that the reader is woken once
	t := &table{factory: f, now: time.Now(), out: bufio.NewWriterSize(f.streams.Out, whole), header: header}
	if f.streams.OutTTY && len(header) > 0 {
		t.row(agent.Mapped(header, func(name string) cell { return cell{text: name, colour: bold} })...)
	}
	return t
}

func (t *table) row(cells ...cell) {
	for i := range cells {
		cells[i].text = oneLine(cells[i].text)
	}
	if t.streams.OutTTY {
		t.rows = append(t.rows, cells)
		return
	}
	for i, c := range cells {
		if i > 0 {
			_ = t.out.WriteByte('\t') // the writer keeps its first error
		}
		_, _ = t.out.WriteString(c.text)
	}
	_ = t.out.WriteByte('\n')
}

const gap = 2 // columns between two columns

func (t *table) flush() error {
	widths := t.natural()
	across := len(widths)
	if t.streams.Width > 0 && total(widths) > t.streams.Width {
		across -= t.under
	}
	widths = t.narrowed(widths[:min(across, len(widths))])
	for n, row := range t.rows {
		var line strings.Builder
		for i, c := range row[:min(across, len(row))] {
			shown := fit(c.text, widths[i])
			padding := strings.Repeat(" ", widths[i]-columns(shown)+gap)
			line.WriteString(t.coloured(c.colour, shown) + padding)
		}
		_, _ = t.out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if n > 0 && across < len(row) { // not the header
			t.below(row, across)
		}
	}
	return t.out.Flush()
}

// below prints the fields of a row that have no column, each with its name. Short ones share a line.
func (t *table) below(row []cell, from int) {
	const indent = 4
	line := ""
	for i := from; i < len(row); i++ {
		if row[i].text == "-" || row[i].text == "" {
			continue
		}
		field := strings.ToLower(t.header[i]) + ": " + row[i].text
		if line != "" && indent+columns(line)+gap+columns(field) <= t.streams.Width {
			line += strings.Repeat(" ", gap) + field
			continue
		}
		t.printBelow(indent, line)
		line = field
	}
	t.printBelow(indent, line)
}

func (t *table) printBelow(indent int, line string) {
	if line != "" {
		_, _ = t.out.WriteString(strings.Repeat(" ", indent) + hanging(line, indent, t.streams.Width) + "\n")
	}
}

// natural returns the widths of the columns that show each field in full.
func (t *table) natural() []int {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(c.text))
		}
	}
	return widths
}

// total returns the width of a line with these columns.
func total(widths []int) int {
	sum := -gap
	for _, width := range widths {
		sum += width + gap
	}
	return sum
}

// narrowed returns the widths at which the columns fit the terminal. The widest columns shrink first, but not so far
// that a state becomes unreadable.
func (t *table) narrowed(widths []int) []int {
	const least = 10
	for over := total(widths) - t.streams.Width; t.streams.Width > 0 && over > 0; over-- {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= least {
			break
		}
		widths[widest]--
	}
	return widths
}

// fit cuts a text to a width, and marks the cut.
func fit(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

// oneLine returns a text in a form that fits a field.
func oneLine(text string) string {
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

func (t *table) time(at time.Time) cell {
	if at.IsZero() {
		return text("")
	}
	return text(t.shownTime(at, t.now))
}

func number(n int64) cell { return text(strconv.FormatInt(n, 10)) }

func text(s string) cell {
	if s == "" {
		s = "-"
	}
	return cell{text: s}
}

// pid formats the pid of a running process; that of a dead one may belong to another process.
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
	case status.State == agent.TurnFailed:
		colour = red
	case status.State == agent.Waiting || status.State == agent.Unknown || status.State == agent.Starting || status.State == agent.Retrying || status.State == agent.Backoff:
		colour = yellow
	case status.Cause != agent.Stopped && status.Cause != agent.Exited:
		colour = red
	}
	return cell{text: status.Word(), colour: colour}
}
