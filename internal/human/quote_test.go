package human_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"nbs-worker/internal/human"
	"nbs-worker/internal/sim/rig"
)

func TestQuoteMakesTextHarmless(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                         `""`,
		"plain":                    `"plain"`,
		"two\nlines":               `"two\nlines"`,
		"\x1b]0;title\x07":         `"\x1b]0;title\a"`,
		"c1\u009b31m":              `"c1\u009b31m"`,
		"raw\x9b31m":               `"raw\x9b31m"`,
		"\u202eright to left":      `"\u202eright to left"`,
		"fill\u3164er\ufe0f\u034f": `"fill\u3164er\ufe0f\u034f"`,
		`a "quote"`:                `"a \"quote\""`,
		"na\u00efve \u2713":        "\"na\u00efve \u2713\"",
		strings.Repeat("x", 80):    `"` + strings.Repeat("x", 80) + `"`,
		strings.Repeat("x", 500):   `"` + strings.Repeat("x", 80) + `"...`,
	} {
		rig.Equal(t, human.Quote(given), want, "Quote(%q)", given)
	}
}

// A text is cut to whole characters, some of which count twice in UTF-16.
func TestCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abc…", "語語語語": "語語語語", "語語語語語": "語語語…", "🦀🦀": "🦀🦀", "🦀🦀a": "🦀…", "a🦀🦀": "a🦀…", "ab🦀c": "ab…"} {
		rig.Equal(t, human.Cut(text, 4, utf16.RuneLen), want, "cut")
	}
}
