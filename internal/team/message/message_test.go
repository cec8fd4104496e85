package message

import (
	"fmt"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", typedCharacters+1)
	for what, c := range map[string]struct {
		message Message
		refused bool
	}{
		"a text": {Message{Text: "hello"}, false}, "blank": {Message{Text: " \n"}, true}, "too large": {Message{Text: strings.Repeat("x", limit+1)}, true},
		"a command": {Message{Text: "/compact"}, true}, "a command, raw": {Message{Text: "/compact now", Raw: true}, false},
		"a command that leaves": {Message{Text: "/clear", Raw: true}, true}, "words, raw": {Message{Text: "compact", Raw: true}, true},
		"for the shell": {Message{Text: "!rm -rf x"}, true}, "for the shell, raw": {Message{Text: "!rm -rf x", Raw: true}, true},
		"for the shell, behind blanks": {Message{Text: "\n  !ls"}, true}, "exit": {Message{Text: "exit"}, true}, "help": {Message{Text: "?"}, true},
		"exit, by file": {Message{Text: "exit", ByFile: true}, false}, "a note": {Message{Text: "# remember"}, true}, "a long command": {Message{Text: "/" + long, Raw: true}, true},
		"a question": {Message{Text: "exit?"}, false}, "exit behind a mark": {Message{Text: "\ufeffexit"}, true}, "two lines, raw": {Message{Text: "/a\nb", Raw: true}, true},
	} {
		err := c.message.check()
		rig.Check(t, (err != nil) == c.refused && (err == nil || fail.KindOf(err) == fail.BadInput), "%s: %v", what, err)
	}
	for text, want := range map[string]bool{
		"soft\u00adhyphen": false, strings.Repeat("😀", 390): true, strings.Repeat("😀", 391): false, "a <pasted_content> b": false, "a\u200bb": false, "\u200eleft": false, "a\u202eb": false, "a\u2066b": false, "\u115f": false,
		"می\u200cخواهم": false, "❤\ufe0f": false, "👩\u200d💻": false, "a\nb": true, "tab\there": false, "\x1b[31m": false, long: false, "ü 漢 💻 é 🤷🏽": true, "\xff": false,
	} {
		got := isTypable(text)
		rig.Check(t, got == want, "%q can be typed: %t", text, got)
	}
	for _, hidden := range "\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff\ufff9\ufe0f\u034f" {
		rig.Check(t, !isTypable(fmt.Sprintf("a%cb", hidden)), "%U can be typed", hidden)
	}
	for text, want := range map[string]string{"\ufeff cafe\u0301\n": "caf\u00e9", "\ufeffexit": "exit", " a\n b ": "a\n b"} {
		rig.Equal(t, normal(text), want, "%q becomes", text)
	}
	low := tmux.Styled{Width: 80, Height: 24}
	for text, want := range map[string]bool{strings.Repeat("x\n", 14): true, strings.Repeat("x\n", 15): false, strings.Repeat("x", 780): true, strings.Repeat("漢", 780): false} {
		got := fits(text, low)
		rig.Check(t, got == want, "%.20q of %d bytes fits: %t", text, len(text), got)
	}
}
