package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"nbs-worker/internal/chat/markdown"
	"nbs-worker/internal/sim/rig"
)

// shown writes what a text is parsed to: paragraphs with a | behind each, and the rest as tags.
func shown(source string) string {
	var out strings.Builder
	document := markdown.Parse([]byte(source))
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch node := node.(type) {
		case *ast.Document, *ast.TextBlock, *extension.TableHeader:
		case *ast.Text:
			if entering {
				out.Write(node.Value([]byte(source)))
			}
			if entering && (node.SoftLineBreak() || node.HardLineBreak()) {
				out.WriteString("/")
			}
		case *ast.AutoLink:
			if entering {
				fmt.Fprintf(&out, "<%s>", node.URL([]byte(source)))
			}
		case *extension.TaskCheckBox:
			if entering {
				fmt.Fprintf(&out, "<box %t>", node.IsChecked)
			}
		case *extension.Table:
			if entering {
				fmt.Fprintf(&out, "<table %v>", node.Alignments)
			}
		case *ast.Paragraph, *extension.TableCell:
			if !entering {
				out.WriteString("|")
			}
		default:
			if entering {
				fmt.Fprintf(&out, "<%s>", node.Kind())
			} else {
				fmt.Fprintf(&out, "</%s>", node.Kind())
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.NewReplacer("Strikethrough", "s", "Emphasis", "em", "CodeSpan", "code", "ListItem", "li", "List", "ul", "TableRow", "tr").Replace(out.String())
}

func same(t *testing.T, tests [][2]string) {
	t.Helper()
	for _, test := range tests {
		rig.Same(t, test[0], test[1], shown(test[0]))
	}
}

func TestStrikethrough(t *testing.T) {
	t.Parallel()
	same(t, [][2]string{
		{"~~a~~ ~b~ c~~d~~", "<s>a</s> <s>b</s> c<s>d</s>|"},
		{"~~a *b* c~~ *~~d~~*", "<s>a <em>b</em> c</s> <em><s>d</s></em>|"},
		{"~~ a ~~ ~~b ~~~c~~~ 3~4", "~~ a ~~ ~~b ~~~c~~~ 3~4|"},
	})
}

func TestTasks(t *testing.T) {
	t.Parallel()
	same(t, [][2]string{
		{"- [ ] a\n- [x] b\n- [X]  c", "<ul><li><box false>a</li><li><box true>b</li><li><box true>c</li></ul>"},
		{"1. [ ]", "<ul><li><box false></li></ul>"},
		{"- a [x]\n- [y] b\n- [x", "<ul><li>a [x]</li><li>[y] b</li><li>[x</li></ul>"},
		{"[x] a\n\n- b\n\n  [ ] c", "[x] a|<ul><li>b|[ ] c|</li></ul>"},
	})
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	same(t, [][2]string{
		{"http://a.bc/d_e_f*g", "<http://a.bc/d_e_f>*g|"},
		{"(https://a.bc/d_(e)) *ftp://f.gh* _http://i.jk_", "(<https://a.bc/d_(e)>) <em><ftp://f.gh></em> <em><http://i.jk></em>|"},
		{"www.a.bc:8080/d?e=f&g#h$i,", "<http://www.a.bc:8080/d?e=f&g#h$i>,|"},
		{"https://u:p@a.B.cd:1 http://a.bc:x", "<https://u:p@a.B.cd:1> <http://a.bc>:x|"},
		{"http://a.bc/d?!.,:*_~ http://a.bc/d))", "<http://a.bc/d>?!.,:*_~ <http://a.bc/d>))|"},
		{"http://a.bc/&gt; http://a.bc/d; http://a.bc/&;", "<http://a.bc/>&gt; <http://a.bc/d;> <http://a.bc/&;>|"},
		{"http://localhost/_a_ http:// www. www.a xhttp://a.bc", "http://localhost/<em>a</em> http:// www. www.a xhttp://a.bc|"},
		{"`http://a.bc` [http://a.bc](d)", "<code>http://a.bc</code> <Link>http://a.bc</Link>|"},
		{"a_b@c-d.ef. (g+h@i.jk)", "<a_b@c-d.ef>. (<g+h@i.jk>)|"},
		{"a@b .c@d.ef g@h.ij- k@l.mn_ @o", "a@b .c@d.ef g@h.ij- k@l.mn_ @o|"},
		{"http://" + strings.Repeat("a", 256) + ".bc", "<http://" + strings.Repeat("a", 256) + ".bc>|"},
		{"http://" + strings.Repeat("a", 257) + ".bc", "http://" + strings.Repeat("a", 257) + ".bc|"},
	})
}

func TestTables(t *testing.T) {
	t.Parallel()
	same(t, [][2]string{
		{"|a|b|c|d|\n|:--|--:|:-:|-|\n|1|2|3|4|", "<table [left right center none]>a|b|c|d|<tr>1|2|3|4|</tr>"},
		{"a | *b*\n--|--\n1 | ~~2~~\n\nc", "<table [none none]>a|<em>b</em>|<tr>1|<s>2</s>|</tr>c|"},
		{"|a|b|\n|-|-|\n|1|\n|1|2|3|\n1", "<table [none none]>a|b|<tr>1||</tr><tr>1|2|</tr><tr>1||</tr>"},
		{"|a\\|b|`c\\|d` `\\|`|\n|-|-|\n|1\\|", "<table [none none]>a\\|b|<code>c|d</code> <code>|</code>|<tr>1\\|||</tr>"},
		{"a\nb\n|c|\n|-|\n|`\\|`|", "a/b|<table [none]>c|<tr><code>|</code>|</tr>"},
		{"`a\\|b`", "<code>a\\|b</code>|"},
		{"> - |a|\n>   |-|\n>   |1|", "<Blockquote><ul><li><table [none]>a|<tr>1|</tr></li></ul></Blockquote>"},
		{"|a|b|\n|-|\n|1|", "|a|b|/|-|/|1||"},
		{"|a|\n|-|-|", "<table [none none]>a||"},
		{"|-|-|\n\na\n    |-|\n\na\n|", "|-|-||a/|-||a/||"},
		{"a\n--\nb\n|:|\n|-x|\n||-|", "a/--/b/|:|/|-x|/||-||"},
	})
}

// FuzzParse checks that each part of a text stays in its place: no two texts overlap, and they are in order.
func FuzzParse(f *testing.F) {
	for _, source := range []string{
		"|a|`b\\|c`|\n|:-|-:|\n|~~d~~|www.e.fg/(h))|i|\n|j\\|", "- [x] ~a~ (http://b.cd/e_f&gt;), g@h.ij.\n  k\n  |l\n  -|-\n\n~~~\nm",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, document := range []ast.Node{markdown.Parse([]byte(source)), markdown.ParseWithoutHTML([]byte(source))} {
			last := 0
			_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
				if part, is := node.(*ast.Text); is && entering {
					rig.Check(t, last <= part.Segment.Start && part.Segment.Start <= part.Segment.Stop && part.Segment.Stop <= len(source), "text %v after %d of %q", part.Segment, last, source)
					last = part.Segment.Stop
				}
				return ast.WalkContinue, nil
			})
		}
	})
}
