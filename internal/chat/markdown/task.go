package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// task parses the box at the beginning of a list item: [ ] or [x].
type task struct{}

// Trigger implements [parser.InlineParser].
func (task) Trigger() []byte { return []byte{'['} }

// Parse implements [parser.InlineParser].
func (task) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	item, isItem := parent.Parent().(*ast.ListItem)
	if !isItem || item.FirstChild() != parent || parent.HasChildren() {
		return nil
	}
	line, _ := block.PeekLine()
	if len(line) < 3 || line[2] != ']' || strings.IndexByte(spaces+"xX", line[1]) < 0 {
		return nil
	}
	after := bytes.TrimLeft(line[3:], spaces)
	block.Advance(len(line) - len(after))
	return extension.NewTaskCheckBox(line[1] == 'x' || line[1] == 'X')
}

// spaces are what may stand around the text of a cell or of a task.
const spaces = " \t\r\n"
