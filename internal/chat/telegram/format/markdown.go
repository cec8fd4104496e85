package format

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"nbs-worker/internal/chat/markdown"
)

// Markdown returns what Claude's Markdown says, with its format.
func Markdown(source string) (t Text) {
	source = valid(source)
	defer func() {
		if recover() != nil { // a fault of the parser must not keep the answer from its reader
			t = Plain(source)
		}
	}()
	w := &writer{source: []byte(source), isAtStart: true}
	w.blocks(markdown.Parse(w.source), 2)
	sortSpans(w.spans)
	return Text{text: string(w.text), spans: w.spans, starts: w.starts}
}

// writer writes the nodes of a Markdown document as a text.
type writer struct {
	source []byte
	text   []byte
	spans  []span
	starts []int
	open   []span // outer ones first; their ends are not known yet

	indent    int
	isAtStart bool // of a line: the indentation is not written yet
	depth     int  // of lists and quotations: only what is in none is cut before
}

// write writes text, and indents its lines.
func (w *writer) write(s string) {
	for line := range strings.Lines(s) {
		if line != "\n" {
			w.margin()
		}
		w.text = append(w.text, line...)
		w.isAtStart = strings.HasSuffix(line, "\n")
	}
}

func (w *writer) margin() {
	const widest = 16 // lists in lists may be without end
	if w.isAtStart {
		w.text = append(w.text, strings.Repeat(" ", min(w.indent, widest))...)
		w.isAtStart = false
	}
}

// gap ends the text with this many line breaks, unless it is empty.
func (w *writer) gap(lines int) {
	if len(w.text) == 0 {
		return
	}
	there := len(w.text) - len(strings.TrimRight(string(w.text[max(0, len(w.text)-lines):]), "\n"))
	there -= max(0, len(w.text)-lines)
	for range lines - there {
		w.text = append(w.text, '\n')
	}
	w.isAtStart = true
}

// within writes with write, as an entity. Of two entities of one type, one in the other, only the outer one counts.
func (w *writer) within(e Entity, write func()) {
	for _, outer := range w.open {
		if outer.Type == e.Type {
			write()
			return
		}
	}
	if e.Type != quotation {
		w.margin()
	}
	w.open = append(w.open, span{Entity: e, start: len(w.text)})
	write()
	last := len(w.open) - 1
	s := w.open[last]
	w.open = w.open[:last]
	w.close(s)
}

// close adds a span that ends here, without the space around it. The space in a quotation may be that of code.
func (w *writer) close(s span) {
	space := " \n"
	if s.Type == quotation {
		space = "\n"
	}
	in := string(w.text[min(s.start, len(w.text)):])
	s.start += len(in) - len(strings.TrimLeft(in, space))
	s.end = len(w.text) - (len(in) - len(strings.TrimRight(in, space)))
	if s.start < s.end {
		w.spans = append(w.spans, s)
	}
}

// leaf writes code, which contains no entity and is in none but a quotation: the others end before it, and go on after
// it. The text of a link is no code.
func (w *writer) leaf(e Entity, s string) {
	if s == "" {
		return
	}
	w.margin()
	for _, outer := range w.open {
		if outer.Type == link {
			w.text = append(w.text, s...)
			return
		}
	}
	for _, outer := range w.open {
		if outer.Type != quotation {
			w.close(outer)
		}
	}
	start := len(w.text)
	w.text = append(w.text, s...)
	w.spans = append(w.spans, span{Entity: e, start: start, end: len(w.text)})
	for i := range w.open {
		if w.open[i].Type != quotation {
			w.open[i].start = len(w.text)
		}
	}
}

// verbatim writes a block of code at the left edge, where its lines are as wide as can be.
func (w *writer) verbatim(language, s string) {
	if len(w.text) > 0 && !w.isAtStart {
		w.gap(1)
	}
	indent := w.indent
	w.indent, w.isAtStart = 0, false
	w.leaf(Entity{Type: pre, Language: language}, strings.Trim(s, "\n"))
	w.indent = indent
}

// lines returns the source of a node's lines.
func (w *writer) lines(node ast.Node) string {
	var all strings.Builder
	for i := range node.Lines().Len() {
		line := node.Lines().At(i)
		all.Write(line.Value(w.source))
	}
	return all.String()
}
