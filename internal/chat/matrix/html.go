package matrix

import (
	"html"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"nbs-worker/internal/chat/markdown"
)

// write returns what writes HTML, with the tags and attributes that Matrix' clients show.
var write = sync.OnceValue(func() renderer.Renderer {
	return renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(plainNodes{}, 100),
		util.Prioritized(githubNodes{}, 500),
		util.Prioritized(goldhtml.NewRenderer(goldhtml.WithHardWraps()), 1000),
	))
})

// plainNodes writes what the usual renderer writes with more than clients show.
type plainNodes struct{}

func (plainNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		return link(w, node.(*ast.Link).Destination, entering)
	})
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		return link(w, node.(*ast.Image).Destination, entering)
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if n := node.(*ast.AutoLink); entering {
			address := n.URL(source)
			if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(string(address)), "mailto:") {
				address = append([]byte("mailto:"), address...)
			}
			begin, end := tags(address)
			_, _ = w.WriteString(begin + escape(string(n.Label(source))) + end)
		}
		return ast.WalkContinue, nil
	})
	r.Register(extast.KindTaskCheckBox, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && node.(*extast.TaskCheckBox).IsChecked {
			_, _ = w.WriteString("☑ ")
		} else if entering {
			_, _ = w.WriteString("☐ ")
		}
		return ast.WalkContinue, nil
	})
}

func link(w util.BufWriter, address []byte, entering bool) (ast.WalkStatus, error) {
	begin, end := tags(address)
	if !entering {
		begin = end
	}
	_, _ = w.WriteString(begin)
	return ast.WalkContinue, nil
}

var shownScheme = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(https?|ftp|mailto|magnet):`) })

// tags returns what is around the text of a link. A link that clients drop is written behind its text.
func tags(address []byte) (begin, end string) {
	if shownScheme().Match(address) {
		return `<a href="` + escape(string(util.URLEscape(address, false))) + `">`, "</a>"
	}
	return "", " (" + escape(string(address)) + ")"
}

// asHTML returns Claude's Markdown as HTML; "" if it cannot be read.
func asHTML(source string) (written string) {
	defer func() {
		if recover() != nil { // a fault of the parser must not keep the answer from its reader
			written = ""
		}
	}()
	var out strings.Builder
	data := []byte(source)
	if err := write().Render(&out, data, markdown.ParseWithoutHTML(data)); err != nil {
		return ""
	}
	return strings.TrimSpace(out.String())
}

var anyTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<[^>]*>`) })

// shows reports whether HTML has something to be read.
func shows(written string) bool {
	return strings.TrimSpace(html.UnescapeString(anyTag().ReplaceAllString(written, ""))) != ""
}

func escape(text string) string { return html.EscapeString(text) }

// paragraph returns a text as HTML; "" for "".
func paragraph(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return "<p>" + strings.ReplaceAll(escape(text), "\n", "<br>") + "</p>"
}
