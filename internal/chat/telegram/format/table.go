package format

import (
	"bytes"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"nbs-worker/internal/human"
)

// table returns a table with aligned columns.
func (w *writer) table(table *extension.Table) string {
	var rows [][]string
	widths := make([]int, len(table.Alignments))
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			text := w.cell(cell)
			if cell == row.LastChild() {
				text += w.beyond(cell)
			}
			if len(cells) < len(widths) {
				widths[len(cells)] = max(widths[len(cells)], displaywidth.String(text))
			}
			cells = append(cells, text)
		}
		rows = append(rows, cells)
	}
	var out strings.Builder
	for i, row := range rows {
		for column := range row {
			row[column] = padded(row[column], widths[column], table.Alignments[column])
		}
		out.WriteString(strings.TrimRight(strings.Join(row, " | "), " ") + "\n")
		if i == 0 {
			for column := range row {
				row[column] = strings.Repeat("-", widths[column])
			}
			out.WriteString(strings.Join(row, "-+-") + "\n")
		}
	}
	return out.String()
}

// cell returns the text of a cell on one line.
func (w *writer) cell(cell ast.Node) string {
	in := &writer{source: w.source}
	in.inlines(cell)
	return human.OneLine(string(in.text))
}

// beyond returns what follows a cell in its line: the parser leaves out what has no column.
func (w *writer) beyond(cell ast.Node) string {
	if cell.Lines().Len() == 0 {
		return ""
	}
	rest, _, _ := bytes.Cut(w.source[cell.Lines().At(0).Stop:], []byte("\n"))
	text := human.OneLine(strings.Trim(strings.TrimSpace(string(rest)), "| \t"))
	if text == "" {
		return ""
	}
	return " | " + text
}

func padded(text string, width int, alignment extension.Alignment) string {
	space := max(0, width-displaywidth.String(text))
	left := 0
	switch alignment {
	case extension.AlignRight:
		left = space
	case extension.AlignCenter:
		left = space / 2
	case extension.AlignLeft, extension.AlignNone:
	}
	return strings.Repeat(" ", left) + text + strings.Repeat(" ", space-left)
}
