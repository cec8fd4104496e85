package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// tables makes a table of the last lines of a paragraph: the names of its columns, their delimiters, and its rows.
type tables struct{}

// Transform implements [parser.ParagraphTransformer].
func (tables) Transform(node *ast.Paragraph, reader text.Reader, _ parser.Context) {
	source, lines := reader.Source(), node.Lines()
	for i := 1; i < lines.Len(); i++ {
		columns := delimiters(lines.At(i), source)
		if columns == nil {
			continue
		}
		names := cells(lines.At(i-1), source)
		if len(names) > len(columns) {
			return
		}
		table := extension.NewTable()
		table.Alignments = columns
		table.AppendChild(table, extension.NewTableHeader(row(names, columns)))
		for _, line := range lines.Sliced(i+1, lines.Len()) {
			table.AppendChild(table, row(cells(line, source), columns))
		}
		node.Parent().InsertAfter(node.Parent(), node, table)
		keep(node, i-1)
		return
	}
}

// keep leaves a paragraph its first lines, or removes it if it has none.
func keep(node *ast.Paragraph, lines int) {
	node.Lines().SetSliced(0, lines)
	if lines == 0 {
		node.Parent().RemoveChild(node.Parent(), node)
		return
	}
	last := node.Lines().At(lines - 1)
	node.Lines().Set(lines-1, last.WithStop(last.Stop-1)) // without its line break
}

// delimiters returns the columns of a line such as |:--|--:|; nil if it is another line. A line of dashes alone
// is text: it stands below much that is no table.
func delimiters(segment text.Segment, source []byte) (columns []extension.Alignment) {
	line := segment.Value(source)
	if indent, _ := util.IndentWidth(line, 0); indent > 3 || !bytes.ContainsAny(line, "|:") {
		return nil
	}
	line = bytes.Trim(line, spaces)
	line = bytes.TrimSuffix(bytes.TrimPrefix(line, []byte("|")), []byte("|"))
	for part := range bytes.SplitSeq(line, []byte("|")) {
		dashes, isLeft := bytes.CutPrefix(bytes.Trim(part, spaces), []byte(":"))
		dashes, isRight := bytes.CutSuffix(dashes, []byte(":"))
		if len(dashes) == 0 || len(bytes.Trim(dashes, "-")) > 0 {
			return nil
		}
		alignment := extension.AlignNone
		switch {
		case isLeft && isRight:
			alignment = extension.AlignCenter
		case isLeft:
			alignment = extension.AlignLeft
		case isRight:
			alignment = extension.AlignRight
		}
		columns = append(columns, alignment)
	}
	return columns
}

// cells returns what is between the bars of a line.
func cells(segment text.Segment, source []byte) (all []text.Segment) {
	segment = segment.TrimLeftSpace(source)
	segment = segment.TrimRightSpace(source)
	line := segment.Value(source)
	isBar := func(at int) bool { return line[at] == '|' && (at == 0 || line[at-1] != '\\') }
	from, end := 0, len(line)
	if end > 0 && isBar(0) {
		from++
	}
	if end > 0 && isBar(end-1) {
		end--
	}
	for from < end {
		to := from
		for to < end && !isBar(to) {
			to++
		}
		cell := text.NewSegment(segment.Start+from, segment.Start+to)
		cell = cell.TrimLeftSpace(source)
		all = append(all, cell.TrimRightSpace(source))
		from = to + 1
	}
	return all
}

// row returns a row with as many cells as there are columns.
func row(cells []text.Segment, columns []extension.Alignment) *extension.TableRow {
	row := extension.NewTableRow(columns)
	for i, alignment := range columns {
		cell := extension.NewTableCell()
		cell.Alignment = alignment
		if i < len(cells) {
			cell.Lines().Append(cells[i])
		}
		row.AppendChild(row, cell)
	}
	return row
}

// codeInCells removes the backslash of each \| from the code in cells. Elsewhere, a backslash in code is code.
type codeInCells struct{}

// Transform implements [parser.ASTTransformer].
func (codeInCells) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		code, is := node.(*ast.CodeSpan)
		if !is || !entering {
			return ast.WalkContinue, nil
		}
		block := code.Parent()
		for block.Type() == ast.TypeInline {
			block = block.Parent()
		}
		if block.Kind() == extension.KindTableCell {
			unescapeBars(code, reader.Source())
		}
		return ast.WalkSkipChildren, nil
	})
}

// unescapeBars cuts each \| in two texts, without the backslash between them.
func unescapeBars(code *ast.CodeSpan, source []byte) {
	for child := code.FirstChild(); child != nil; child = child.NextSibling() {
		part, is := child.(*ast.Text)
		if !is {
			continue
		}
		at := bytes.Index(part.Value(source), []byte(`\|`))
		if at < 0 {
			continue
		}
		at += part.Segment.Start
		code.InsertAfter(code, part, ast.NewRawTextSegment(part.Segment.WithStart(at+1)))
		part.Segment = part.Segment.WithStop(at)
	}
}
