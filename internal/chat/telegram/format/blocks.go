package format

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// rule is a thematic break.
const rule = "──────────"

// blocks writes the blocks in a node, with this many line breaks between them.
func (w *writer) blocks(parent ast.Node, gap int) {
	afterHeading := false // it stays with what follows
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		if node != parent.FirstChild() {
			w.gap(gap)
			if w.depth == 0 && !afterHeading {
				w.starts = append(w.starts, len(w.text))
			}
		}
		w.block(node)
		_, afterHeading = node.(*ast.Heading)
	}
}

func (w *writer) block(node ast.Node) {
	switch node := node.(type) {
	case *ast.Heading:
		w.within(Entity{Type: bold}, func() { w.inlines(node) })
	case *ast.Paragraph, *ast.TextBlock:
		w.inlines(node)
	case *ast.ThematicBreak:
		w.write(rule)
	case *ast.CodeBlock:
		w.verbatim("", w.lines(node))
	case *ast.FencedCodeBlock:
		w.verbatim(string(node.Language(w.source)), w.lines(node))
	case *ast.HTMLBlock:
		html := w.lines(node)
		if node.HasClosure() {
			html += string(node.ClosureLine.Value(w.source))
		}
		w.write(strings.TrimRight(html, "\n"))
	case *ast.Blockquote:
		w.quote(node)
	case *ast.List:
		w.list(node)
	case *extension.Table:
		w.verbatim("", w.table(node))
	default:
		w.blocks(node, 2)
	}
}

func (w *writer) quote(node ast.Node) {
	if len(w.text) > 0 && !w.isAtStart {
		w.gap(1)
	}
	indent := w.indent
	w.indent = 0
	w.depth++
	w.within(Entity{Type: quotation}, func() { w.blocks(node, 2) })
	w.depth--
	w.indent = indent
}

func (w *writer) list(list *ast.List) {
	if len(w.text) > 0 && !w.isAtStart {
		w.gap(1)
	}
	gap := 2
	if list.IsTight {
		gap = 1
	}
	w.depth++
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		if item != list.FirstChild() {
			w.gap(gap)
		}
		marker := "• "
		switch {
		case list.IsOrdered():
			marker = fmt.Sprintf("%d%c ", number, list.Marker)
		case isTask(item):
			marker = ""
		}
		w.write(marker)
		w.margin()
		number++
		w.indent += 2
		w.blocks(item, gap)
		w.indent -= 2
	}
	w.depth--
}

// isTask reports whether an item begins with a box.
func isTask(item ast.Node) bool {
	first := item.FirstChild()
	if first == nil {
		return false
	}
	_, is := first.FirstChild().(*extension.TaskCheckBox)
	return is
}
