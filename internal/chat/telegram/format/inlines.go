package format

import (
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inlines writes what is in a paragraph.
func (w *writer) inlines(parent ast.Node) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		w.inline(node)
	}
}

func (w *writer) inline(node ast.Node) {
	switch node := node.(type) {
	case *ast.Text:
		w.write(literal(node.Value(w.source), node.IsRaw()))
		if node.SoftLineBreak() || node.HardLineBreak() {
			w.write("\n")
		}
	case *ast.String:
		w.write(literal(node.Value, node.IsRaw() || node.IsCode()))
	case *ast.CodeSpan:
		w.leaf(Entity{Type: code}, w.codeSpan(node))
	case *ast.Emphasis:
		kind := italic
		if node.Level == 2 {
			kind = bold
		}
		w.within(Entity{Type: kind}, func() { w.inlines(node) })
	case *extension.Strikethrough:
		w.within(Entity{Type: strikethrough}, func() { w.inlines(node) })
	case *extension.TaskCheckBox:
		box := "☐ "
		if node.IsChecked {
			box = "☑ "
		}
		w.write(box)
	case *ast.Link:
		w.link(node, node.Destination)
	case *ast.Image:
		w.link(node, node.Destination)
	case *ast.AutoLink:
		w.write(string(node.Label(w.source)))
	case *ast.RawHTML:
		w.html(node)
	default:
		w.inlines(node)
	}
}

// codeSpan returns the text of a span of code, whose line breaks are spaces.
func (w *writer) codeSpan(node ast.Node) string {
	var all strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if part, is := child.(*ast.Text); is {
			all.Write(part.Value(w.source))
		}
	}
	return strings.ReplaceAll(all.String(), "\n", " ")
}

// html writes a tag as it is, since Telegram has none; only a line break is one.
func (w *writer) html(node *ast.RawHTML) {
	var tag strings.Builder
	for i := range node.Segments.Len() {
		segment := node.Segments.At(i)
		tag.Write(segment.Value(w.source))
	}
	switch strings.ToLower(strings.ReplaceAll(tag.String(), " ", "")) {
	case "<br>", "<br/>":
		w.write("\n")
	default:
		w.write(tag.String())
	}
}

// link writes a link or an image. Where it leads is written out unless Telegram can follow it.
func (w *writer) link(node ast.Node, destination []byte) {
	target, shown := string(util.URLEscape(destination, true)), literal(destination, false)
	if isURL(target) {
		before := len(w.text)
		w.within(Entity{Type: link, URL: target}, func() {
			w.inlines(node)
			if len(w.text) == before {
				w.write(shown)
			}
		})
		return
	}
	before := len(w.text)
	w.inlines(node)
	switch said := strings.TrimSpace(string(w.text[before:])); {
	case shown == "" || said == shown || "mailto:"+said == shown:
	case said == "":
		w.write(shown)
	default:
		w.write(" (" + shown + ")")
	}
}

// isURL reports whether Telegram takes a link to it.
func isURL(target string) bool {
	const longest = 2048
	u, err := url.Parse(target)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.Contains(u.Hostname(), ".") && len(target) <= longest
}

// literal returns a text of the source without escapes and with its character references resolved, unless it is raw.
func literal(source []byte, isRaw bool) string {
	if isRaw {
		return string(source)
	}
	var out strings.Builder
	resolve := func(part []byte) { out.Write(util.ResolveEntityNames(util.ResolveNumericReferences(part))) }
	from := 0
	for i := 0; i+1 < len(source); i++ {
		if source[i] == '\\' && util.IsPunct(source[i+1]) {
			resolve(source[from:i])
			out.WriteByte(source[i+1])
			from = i + 2
			i++
		}
	}
	resolve(source[from:])
	return valid(out.String())
}
