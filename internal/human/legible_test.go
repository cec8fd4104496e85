package human_test

import (
	"strings"
	"testing"

	"nbs-worker/internal/human"
	"nbs-worker/internal/sim/rig"
)

// Nothing in a text is invisible: what hides instructions, or a difference between two names,
// is spelled out. Text in any script, and emoji, are as they were.
func TestLegible(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"plain text,\n\tof two lines":                "plain text,\n\tof two lines",
		"\x1b[2J\r\x07":                              "?[2J??",
		"c1 \u009b2J":                                "c1 ?2J",
		"raw \x9b2J":                                 "raw \ufffd2J",
		"\x1b]0;title\x07":                           "?]0;title?",
		"\x1b[31mred\x1b[0m":                         "?[31mred?[0m",
		"over\rwrite\x08\x7f":                        "over?write??",
		"c1 \u0085\u009b31m \u009d0;x":               "c1 ??31m ?0;x",
		"\x00":                                       "?",
		"\x1bPdcs\x1b\\ \x1b_apc\x1b\\":              "?Pdcs?\\ ?_apc?\\",
		"a\u202etxt.exe\u2066b\u200f\u061c":          `a\u202etxt.exe\u2066b\u200f\u061c`,
		"zero\u200bwidth\ufeff\u2060\u00ad":          `zero\u200bwidth\ufeff\u2060\u00ad`,
		"lines\u2028and\u2029paragraphs":             `lines\u2028and\u2029paragraphs`,
		"tags\U000e0001\U000e0072\U000e006d":         `tags\U000e0001\U000e0072\U000e006d`,
		"x\ufe0f y\ufe00 \U000e0100":                 `x\ufe0f y\ufe00 \U000e0100`,
		"\u115f\u1160\u3164\uffa0":                   `\u115f\u1160\u3164\uffa0`,
		"\u2800\u034f\u17b4\u17b5\u180b\u180e":       `\u2800\u034f\u17b4\u17b5\u180b\u180e`,
		"\u202egnp.exe\u2066":                        `\u202egnp.exe\u2066`,
		"warning \u26a0\ufe0f, heart \u2764\ufe0f":   "warning \u26a0\ufe0f, heart \u2764\ufe0f",
		"1\ufe0f\u20e3":                              "1\ufe0f\u20e3",
		"1\ufe0f2":                                   `1\ufe0f2`,
		"\U0001f468\u200d\U0001f469\u200d\U0001f467": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
		"\U0001f3f3\ufe0f\u200d\U0001f308":           "\U0001f3f3\ufe0f\u200d\U0001f308",
		"\U0001f468\u200dx":                          "\U0001f468" + `\u200dx`,
		"\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \uac00 \u4e2d e\u0301": "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \uac00 \u4e2d e\u0301",
		"\u2839 \u23fa \u276f \u2500 \u2713":                                            "\u2839 \u23fa \u276f \u2500 \u2713", // what Claude draws
	} {
		got := human.Legible(given)
		rig.Check(t, got == want, "Legible(%+q) = %+q; want %+q", given, got, want)
		if human.IsLegible(given) != (given == want) || !human.IsLegible(got) {
			t.Errorf("IsLegible(%+q) = %t, of what was made of it %t", given, human.IsLegible(given), human.IsLegible(got))
		}
	}
}

func TestWord(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": "", "clear": "clear", "changed inside claude": "changed inside claude", "signal 34": "signal 34",
		"clear)\nState: idle": `"clear)\nState: idle"`, "a\u200bb": `"a\u200bb"`, "(x)": `"(x)"`, " x": `" x"`, "\u0441lear": "\"\u0441lear\"",
		strings.Repeat("x", 70): `"` + strings.Repeat("x", 70) + `"`,
	} {
		rig.Equal(t, human.Word(given), want, "Word(%q)", given)
	}
}

// What is pasted is one line and one word, and shows what it is.
func TestShellWord(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"/a b": "'/a b'", "it's": `'it'\''s'`, "a\nb": `$'a\x0ab'`, "a\u200bb": `$'a\xe2\x80\x8bb'`, "\x1b[2J'\\": `$'\x1b[2J\'\\'`, "\u4e2d": "'\u4e2d'",
	} {
		rig.Equal(t, human.ShellWord(given), want, "ShellWord(%q)", given)
	}
}
