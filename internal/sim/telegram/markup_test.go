package telegram_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"nbs-worker/internal/sim/telegram"
)

// sentAs sends a text with a parse mode, and returns the text and its entities, or the refusal.
func sentAs(t *testing.T, s *telegram.Server, mode, text string) string {
	t.Helper()
	var answer struct {
		Description string
		Result      struct {
			Text     string
			Entities []telegram.Entity
		}
	}
	if err := json.Unmarshal([]byte(call(t, s, "sendMessage", "chat_id", "7", "text", text, "parse_mode", mode)), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Description != "" {
		return answer.Description
	}
	said := []string{answer.Result.Text}
	for _, e := range answer.Result.Entities {
		said = append(said, fmt.Sprintf("[%s %d+%d%s%s]", e.Type, e.Offset, e.Length, e.URL, e.Language))
	}
	return strings.Join(said, " ")
}

func TestMarkup(t *testing.T) {
	t.Parallel()
	s := start(t)
	const cannot = "Bad Request: can't parse entities: "
	for _, test := range []struct{ mode, text, want string }{
		{"HTML", "<b>bold <i>both</i></b> &lt;x&gt; &amp;amp; & &copy;", "bold both <x> &amp; & &copy; [bold 0+9] [italic 5+4]"},
		{"HTML", "\U0001F600<code>x</code>", "\U0001F600x [code 2+1]"},
		{"HTML", `<a href="https://a.b/?x=1&amp;y=2">link</a>`, "link [text_link 0+4https://a.b/?x=1&y=2]"},
		{"HTML", "<pre><code class=\"language-go\">x &lt; y</code></pre>", "x < y [pre 0+5go]"},
		{"HTML", "<blockquote expandable>long</blockquote>", "long [expandable_blockquote 0+4]"},
		{"HTML", "a <b>bold", cannot + `Can't find end tag corresponding to start tag "b"`},
		{"HTML", "a <b>b</i>", cannot + `Unmatched end tag at byte offset 6, expected "</b>", found "</i>"`},
		{"HTML", "a </b>", cannot + "Unexpected end tag at byte offset 2"},
		{"HTML", "a <table>", cannot + `Unsupported start tag "table" at byte offset 2`},
		{"HTML", "1 < 2", cannot + `Unsupported start tag "" at byte offset 2`},
		{"HTML", "<b", cannot + "Unclosed start tag at byte offset 0"},
		{"HTML", "<b> </b>", "Bad Request: message text is empty"},
		{"MarkdownV2", "*bold _both_* __under__ ~gone~ ||dark||", "bold both under gone dark [bold 0+9] [italic 5+4] [underline 10+5] [strikethrough 16+4] [spoiler 21+4]"},
		{"MarkdownV2", "`a.b` \\. [x](https://a.b/\\))", "a.b . x [code 0+3] [text_link 6+1https://a.b/)]"},
		{"MarkdownV2", "```go\nx := 1\n```", "x := 1 [pre 0+6go]"},
		{"MarkdownV2", ">one\n>two\nthree", "one\ntwo\nthree [blockquote 0+7]"},
		{"MarkdownV2", "a.b", cannot + `Character '.' is reserved and must be escaped with the preceding '\'`},
		{"MarkdownV2", "a *b", cannot + "Can't find end of Bold entity at byte offset 2"},
		{"MarkdownV2", "a ```go\nb", cannot + "Can't find end of PreCode entity at byte offset 2"},
		{"MarkdownV2", "[a](b", cannot + "Can't find end of a URL at byte offset 3"},
		{"Markdown", "*bold* _it_ `code` \\* [x](https://a.b)", "bold it code * x [bold 0+4] [italic 5+2] [code 8+4] [text_link 15+1https://a.b]"},
		{"Markdown", "snake_case", cannot + "Can't find end of the entity starting at byte offset 5"},
	} {
		if got := sentAs(t, s, test.mode, test.text); got != test.want {
			t.Errorf("%s %q:\n%s\nwant\n%s", test.mode, test.text, got, test.want)
		}
	}
	if long := sentAs(t, s, "HTML", strings.Repeat("&lt;", 4096)); !strings.HasPrefix(long, "<<<") {
		t.Errorf("the length is counted before the markup is read: %.60s", long)
	}
}
