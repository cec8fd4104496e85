package matrix_test

import (
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/sim/rig"
)

// sent sends what a text is formatted to, and returns it as the room shows it.
func sent(t *testing.T, pieces ...bridge.Piece) (texts, html []string) {
	t.Helper()
	w := newWorld(t) // which checks each event
	s := w.begin()
	for i, m := range s.Format(pieces...) {
		at, err := s.Send(t.Context(), bridge.Place{Chat: own}, strconv.Itoa(i), m)
		rig.Must(t, err)
		m.Before = bridge.PerhapsAgain
		rig.Must(t, s.Edit(t.Context(), at, m)) // it also fits into an edit
	}
	for _, m := range w.Bots(own) {
		texts = append(texts, strings.TrimPrefix(m.Text, bridge.PerhapsAgain))
		html = append(html, m.HTML)
	}
	return texts, html
}

func TestMarkdownBecomesHTMLThatClientsShow(t *testing.T) {
	t.Parallel()
	const before = "<p>(You may have this already: I was interrupted while telling it.)</p>"
	for _, test := range []struct{ markdown, html string }{
		{"**bold** and _italic_, ~~gone~~", "<p><strong>bold</strong> and <em>italic</em>, <del>gone</del></p>"},
		{"one\ntwo", "<p>one<br>\ntwo</p>"},
		{"**a** <b>c</b> & <script>x</script>", "<p><strong>a</strong> &lt;b&gt;c&lt;/b&gt; &amp; &lt;script&gt;x&lt;/script&gt;</p>"},
		{"<div>\n<p>`block`</p>\n</div>", "<p>&lt;div&gt;<br>\n&lt;p&gt;<code>block</code>&lt;/p&gt;<br>\n&lt;/div&gt;</p>"},
		{"# Title\n\n3. three\n4. four", "<h1>Title</h1>\n<ol start=\"3\">\n<li>three</li>\n<li>four</li>\n</ol>"},
		{"```go\nif a < b {\n```", "<pre><code class=\"language-go\">if a &lt; b {\n</code></pre>"},
		{"- [x] done\n- [ ] open", "<ul>\n<li>☑ done</li>\n<li>☐ open</li>\n</ul>"},
		{"|a|b|\n|:-|-:|\n|1|2|", "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>"},
		{`[x](https://a.b/c?d="e" "title") https://f.g <me@h.i>`, `<p><a href="https://a.b/c?d=%22e%22">x</a> <a href="https://f.g">https://f.g</a> <a href="mailto:me@h.i">me@h.i</a></p>`},
		{"[x](javascript:y) [file](doc/a.md) ![pic](https://a.b/c.png)", `<p>x (javascript:y) file (doc/a.md) <a href="https://a.b/c.png">pic</a></p>`},
		{"[id]: https://a.b", "<p>[id]: <a href=\"https://a.b\">https://a.b</a></p>"},
	} {
		_, html := sent(t, bridge.Piece{Text: test.markdown, Markdown: true})
		rig.Same(t, test.markdown, []string{before + test.html}, html)
	}
}

func TestPiecesOfAText(t *testing.T) {
	t.Parallel()
	texts, html := sent(t, bridge.Piece{Text: "I <3 it."}, bridge.Piece{Text: " \n"}, bridge.Piece{Text: "**Yes**", Markdown: true}, bridge.Piece{Text: "/file a_b.md", Code: true})
	rig.Same(t, "the text", []string{"I <3 it.\n\n**Yes**\n\n/file a_b.md"}, texts)
	rig.Same(t, "the HTML", true, strings.HasSuffix(html[0], "<p>I &lt;3 it.</p><p><strong>Yes</strong></p><p><code>/file a_b.md</code></p>"))
	texts, html = sent(t, bridge.Piece{Text: "I <3 it.\nReally."})
	rig.Same(t, "plain words", [2]string{"I <3 it.\nReally.", ""}, [2]string{texts[0], html[0]})
	for _, blank := range []string{"#", "```", ">", "[]()", "&nbsp;"} {
		texts, _ = sent(t, bridge.Piece{Text: blank, Markdown: true})
		rig.Same(t, "markup alone", []string{blank}, texts)
	}
	texts, _ = sent(t, bridge.Piece{Text: " "}, bridge.Piece{Text: "\n", Markdown: true})
	rig.Same(t, "nothing", 0, len(texts))
}

func TestALongAnswerIsCutWhereItReadsWell(t *testing.T) {
	t.Parallel()
	code := "```go\n" + strings.Repeat("x := \"<&>\"\n", 1200) + "```\n"
	texts, html := sent(t, bridge.Piece{Text: "Before.\n\n" + code + "\nAfter.", Markdown: true})
	for i, text := range texts[1:] {
		if strings.Count(text, "```")%2 != 0 || len(text) > 12_000 {
			t.Errorf("part %d has half a block of code, or %d bytes", i+1, len(text))
		}
		if i+1 < len(texts)-1 && !strings.HasPrefix(text, "```go\n") {
			t.Errorf("part %d begins with %q", i+1, text[:20])
		}
	}
	rig.Same(t, "the beginning", true, strings.HasPrefix(texts[0], "Before.\n\n```go\n"))
	rig.Same(t, "the lines of all", 1200, strings.Count(strings.Join(texts, ""), "x :="))
	rig.Same(t, "the end", true, strings.HasSuffix(texts[len(texts)-1], "After.") && strings.HasSuffix(html[len(html)-1], "<p>After.</p>"))

	texts, _ = sent(t, bridge.Piece{Text: strings.Repeat("word ", 5000), Markdown: true}, bridge.Piece{Text: "End."})
	rig.Same(t, "one line", true, len(texts) == 3 && strings.Count(strings.Join(texts, " "), "word") == 5000)
	texts, _ = sent(t, bridge.Piece{Text: strings.Repeat("|a|b|c|d\n|-|-|-|-\n"+strings.Repeat("|1|2|3|4\n", 500)+"\n", 2), Markdown: true})
	rig.Same(t, "tables, whose HTML is much longer", 2*500, strings.Count(strings.Join(texts, "\n"), "|1|2|3|4"))
	texts, _ = sent(t, bridge.Piece{Text: strings.Repeat("\x01\"<", 4000), Markdown: true})
	rig.Same(t, "what is longer in JSON", 4000, strings.Count(strings.Join(texts, ""), "\x01"))
}

func TestChoicesAreCommandsToBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	m := s.Format(bridge.Piece{Text: "Sessions:"})[0]
	m.Choices = []bridge.Choice{{Label: "Tea <3", Command: "/back 1f"}}
	_, err := s.Send(t.Context(), bridge.Place{Chat: own}, "c", m)
	rig.Must(t, err)
	got := w.Bots(own)[0]
	rig.Same(t, "the message", [2]string{"Sessions:\nTea <3: !back 1f", "<p>Sessions:</p><ul><li>Tea &lt;3: <code>!back 1f</code></li></ul>"}, [2]string{got.Text, got.HTML})
}
