package format

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"nbs-worker/internal/chat/markdown"
	"nbs-worker/internal/sim/rig"
)

// shown writes a message with its entities as tags: "<bold>so</bold>".
func shown(m Message) string {
	units := utf16.Encode([]rune(m.Text))
	var out strings.Builder
	at := 0
	upTo := func(end int) { out.WriteString(string(utf16.Decode(units[at:end]))); at = end }
	var open []Entity
	leave := func(until int) {
		for len(open) > 0 && open[len(open)-1].Offset+open[len(open)-1].Length <= until {
			e := open[len(open)-1]
			open = open[:len(open)-1]
			upTo(e.Offset + e.Length)
			out.WriteString("</" + e.Type + ">")
		}
	}
	for _, e := range m.Entities {
		leave(e.Offset)
		upTo(e.Offset)
		out.WriteString("<" + e.Type)
		for _, more := range []string{e.URL, e.Language} {
			if more != "" {
				out.WriteString(" " + more)
			}
		}
		out.WriteString(">")
		open = append(open, e)
	}
	leave(len(units))
	upTo(len(units))
	return out.String()
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ source, want string }{
		"plain":                     {"Hello.\nSecond line.\n\n\n\nNext.", "Hello.\nSecond line.\n\nNext."},
		"styles":                    {"**b** *i* ~~s~~ `c`", "<bold>b</bold> <italic>i</italic> <strikethrough>s</strikethrough> <code>c</code>"},
		"one in the other":          {"**b *both* b**", "<bold>b <italic>both</italic> b</bold>"},
		"offsets are UTF-16":        {"\U0001F600 **b\U0001F600**.", "\U0001F600 <bold>b\U0001F600</bold>."},
		"bold ends at code":         {"**run `make` now**", "<bold>run</bold> <code>make</code> <bold>now</bold>"},
		"only code in bold":         {"**`make`**", "<code>make</code>"},
		"heading":                   {"# One *two*\ntext", "<bold>One <italic>two</italic></bold>\n\ntext"},
		"bold in a heading":         {"## **One** two", "<bold>One two</bold>"},
		"code block":                {"So:\n```go\n\tx := 1\n\n\ty()\n```\nDone", "So:\n\n<pre go>\tx := 1\n\n\ty()</pre>\n\nDone"},
		"markup in code":            {"`**no**`\n\n    *no*", "<code>**no**</code>\n\n<pre>*no*</pre>"},
		"list":                      {"- a\n- b\n  - c\n    more\n- d", "• a\n• b\n  • c\n    more\n• d"},
		"numbered list":             {"3. a\n4. b\n\n   c", "3. a\n\n4. b\n\n  c"},
		"tasks":                     {"- [ ] a\n- [x] b", "☐ a\n☑ b"},
		"code in a list":            {"- a\n  ```\n  x\n  ```\n- b", "• a\n<pre>x</pre>\n• b"},
		"quotation":                 {"> a **b**\n> > c\n\nd", "<blockquote>a <bold>b</bold>\n\nc</blockquote>\n\nd"},
		"code in a quotation":       {"> a `b`", "<blockquote>a <code>b</code></blockquote>"},
		"link":                      {"[a *b*](https://example.com/x?a=1&amp;b=2 \"t\")", "<text_link https://example.com/x?a=1&b=2>a <italic>b</italic></text_link>"},
		"code as a link":            {"[`a`](https://example.com)", "<text_link https://example.com>a</text_link>"},
		"link to a file":            {"[main.go:3](src/main.go#L3)", "main.go:3 (src/main.go#L3)"},
		"link without a text":       {"[](https://example.com)", "<text_link https://example.com>https://example.com</text_link>"},
		"link of localhost":         {"[here](http://localhost:80)", "here (http://localhost:80)"},
		"image":                     {"![a cat](https://example.com/cat.png) ![](x.png)", "<text_link https://example.com/cat.png>a cat</text_link> x.png"},
		"image in a link":           {"[![b](https://example.com/b.png)](https://example.com)", "<text_link https://example.com>b</text_link>"},
		"address":                   {"<https://example.com/a_b_> <a@example.com> https://example.com/_a_", "https://example.com/a_b_ a@example.com https://example.com/_a_"},
		"what looks like a defined": {"[ERROR]: timeout\n\n[a][b]\n\n[b]: https://example.com", "[ERROR]: timeout\n\n[a][b]\n\n[b]: https://example.com"},
		"HTML":                      {"a<br>b <b>c</b> <!-- d -->\n\n<div>\n*e*\n</div>\n\n<!--\nf\n-->", "a\nb <b>c</b> <!-- d -->\n\n<div>\n*e*\n</div>\n\n<!--\nf\n-->"},
		"escapes":                   {`\*a\* &amp; &lt;b&gt; \&amp; C:\new &#0;`, "*a* & <b> &amp; C:\\new \uFFFD"},
		"intraword":                 {"my_agent_name 2 * 3 * 4", "my_agent_name 2 * 3 * 4"},
		"a table between dashes":    {"a\n|b|\n|-|\n|c|\n---\nd", "a\n\n<pre>b\n-\nc</pre>\n\n" + rule + "\n\nd"},
		"rule":                      {"a\n\n---\n\nb", "a\n\n" + rule + "\n\nb"},
		"hard break":                {"a  \nb\\\nc", "a\nb\nc"},
		"table": {
			"| Name | Age |\n|:--|--:|\n| **Al** `x` | 7 |\n| 漢字 | 10 | more |\n| a\\|b |",
			"<pre>Name |       Age\n-----+----------\nAl x |         7\n漢字 | 10 | more\na|b  |</pre>",
		},
		"bad bytes":     {"a\xff **b\xff**", "a\uFFFD <bold>b\uFFFD</bold>"},
		"lines of DOS":  {"a\r\nb\r\n\r\n- c\r\n", "a\nb\n\n• c"},
		"empty":         {" \n\n", ""},
		"unclosed code": {"```python\nprint(1)", "<pre python>print(1)</pre>"},
	} {
		var got []string
		for _, m := range Markdown(test.source).Messages() {
			check(t, m)
			got = append(got, shown(m))
		}
		rig.Same(t, name, test.want, strings.Join(got, "<<>>"))
	}
}

// check holds a message against Telegram's rules.
func check(t *testing.T, m Message) {
	t.Helper()
	units := utf16.Encode([]rune(m.Text))
	rig.Check(t, utf8.ValidString(m.Text) && len(units) <= MaxText && strings.TrimSpace(m.Text) != "", "a message of %d units: %q", len(units), m.Text)
	rig.Check(t, len(m.Entities) <= maxEntities, "%d entities", len(m.Entities))
	inside := func(at int) bool { return at < len(units) && utf16.IsSurrogate(rune(units[at])) && units[at] >= 0xDC00 }
	for i, e := range m.Entities {
		end := e.Offset + e.Length
		ok := e.Offset >= 0 && e.Length > 0 && end <= len(units) && !inside(e.Offset) && !inside(end)
		rig.Check(t, ok && strings.TrimSpace(string(utf16.Decode(units[e.Offset:end]))) != "", "%+v in %q", e, m.Text)
		rig.Check(t, e.Type != link || e.URL != "", "a link without an address")
		for _, other := range m.Entities[i+1:] {
			last := other.Offset + other.Length
			apart, contained := other.Offset >= end, other.Offset >= e.Offset && last <= end
			rig.Check(t, apart || contained, "%+v and %+v cross in %q", e, other, m.Text)
			atomic := e.Type == code || e.Type == pre || e.Type == other.Type || (other.Type == code || other.Type == pre) && e.Type != quotation || other.Type == quotation
			rig.Check(t, apart || !atomic, "%+v contains %+v in %q", e, other, m.Text)
		}
	}
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, text)
}

// isWithin reports whether all of a text is in another, in order.
func isWithin(text, other string) bool {
	rest := []rune(other)
	for _, r := range text {
		i := slices.Index(rest, r)
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}

func FuzzMarkdown(f *testing.F) {
	for _, source := range []string{
		"# a\n**b `c` d**\n- e\n  1. f\n\n> g\n> ```go\n> h\n> ```\n\n| i | j |\n|--|:-:|\n| k | l | m |\n\n~~n~~ [o](https://p.qr/s) ![t](u)",
		"[ERROR]: a\n<b>\n&amp;\\* <https://c.de>\n---\n***a*b**c* _d_e_\n\n    f\n~~~g\nh", "a\n===\n- [ ] b\n+ c\n\n  d\n***\n|a|\n|-|\n|b\\|c|`d\\|e`|",
	} {
		f.Add(source, 1)
		f.Add(source+"\n\n", 40)
	}
	f.Fuzz(func(t *testing.T, source string, times int) {
		source = strings.Repeat(source, min(max(times, 0), 9_000/(len(source)+1)))
		// Without what makes letters invisible, such as an address behind a text, each letter is told.
		visible := strings.Map(func(r rune) rune {
			if strings.ContainsRune("[]&<`~\\", r) {
				return ' '
			}
			return r
		}, valid(source))
		for _, text := range []string{source, visible} {
			var told strings.Builder
			formatted := Markdown(text)
			for _, m := range formatted.Messages() {
				check(t, m)
				told.WriteString(m.Text)
			}
			rig.Check(t, letters(told.String()) == letters(formatted.String()), "a cut loses of %q: %q", formatted, told.String())
			rig.Check(t, text != visible || letters(told.String()) == letters(text), "told of %q: %q", text, told.String())
			rig.Check(t, isWithin(letters(texts(text)), letters(told.String())), "told of %q: %q", text, told.String())
		}
	})
}

// texts returns what a parser sees as text.
func texts(source string) string {
	source = valid(source)
	var all strings.Builder
	_ = ast.Walk(markdown.Parse([]byte(source)), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if part, is := node.(*ast.Text); is && entering {
			all.WriteString(literal(part.Value([]byte(source)), part.IsRaw()))
		}
		if node.Type() == ast.TypeBlock && node.IsRaw() && entering {
			for i := range node.Lines().Len() {
				line := node.Lines().At(i)
				all.Write(line.Value([]byte(source)))
			}
		}
		return ast.WalkContinue, nil
	})
	return all.String()
}

func TestMessages(t *testing.T) {
	t.Parallel()
	block := func(language string, lines int) string {
		return "```" + language + "\n" + strings.Repeat(strings.Repeat("x", 39)+"\n", lines) + "```\n\n"
	}
	paragraph := func(units int) string { return strings.Repeat("w ", units/2-1) + "w.\n\n" }
	for name, test := range map[string]struct {
		source string
		want   [][2]string // the beginning and the end of each message
	}{
		"between blocks":              {"a " + paragraph(3000) + "b " + paragraph(3000), [][2]string{{"a w", "w."}, {"b w", "w."}}},
		"a heading stays with its":    {"a " + paragraph(3000) + "# Head\n\n" + paragraph(3000), [][2]string{{"a w", "w."}, {"<bold>Head</bold>\n\nw", "w."}}},
		"code that fits is not cut":   {"a " + paragraph(1000) + block("go", 100), [][2]string{{"a w", "w."}, {"<pre go>", "</pre>"}}},
		"longer code goes on as code": {block("go", 150), [][2]string{{"<pre go>", "x</pre>"}, {"<pre go>x", "</pre>"}}},
		"a style goes on":             {"**" + strings.Repeat("b ", 3000) + "b**", [][2]string{{"<bold>b", "b</bold>"}, {"<bold>b", "b</bold>"}}},
		"between lines":               {strings.Repeat("- "+strings.Repeat("l", 97)+"\n", 60), [][2]string{{"• l", "l"}, {"• l", "l"}}},
		"in a word":                   {strings.Repeat("\U0001F600", 2049), [][2]string{{"\U0001F600", "\U0001F600"}, {"\U0001F600", "\U0001F600"}}},
	} {
		messages := Markdown(test.source).Messages()
		rig.Check(t, len(messages) == len(test.want), "%s: %d messages", name, len(messages))
		for i, want := range test.want[:min(len(test.want), len(messages))] {
			check(t, messages[i])
			is := shown(messages[i])
			rig.Check(t, strings.HasPrefix(is, want[0]) && strings.HasSuffix(is, want[1]), "%s: message %d is %.20q ... %q", name, i, is, is[max(0, len(is)-20):])
		}
	}
	long := Markdown(strings.Repeat("**b** ", 150)).Messages()
	rig.Check(t, len(long) == 1 && len(long[0].Entities) == maxEntities, "the surplus of entities is left out")
}

func TestJoin(t *testing.T) {
	t.Parallel()
	all := Join(Plain("**so**"), Plain(" "), Markdown("**b**\n\n*i*")).Messages()
	rig.Check(t, len(all) == 1, "%d messages", len(all))
	rig.Same(t, "joined", "**so**\n\n<bold>b</bold>\n\n<italic>i</italic>", shown(all[0]))
	rig.Same(t, "plain", "**so**\n\nb\n\ni", fmt.Sprint(Join(Plain("**so**"), Markdown("**b**\n\n*i*"))))
}
