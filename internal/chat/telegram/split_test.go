package telegram

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"nbs-worker/internal/sim/rig"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n"
	emoji := "\U0001F600"
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"short":               {"hello", []string{"hello"}},
		"nothing":             {" \n\n", nil},
		"just fits":           {strings.Repeat("x", 4096), []string{strings.Repeat("x", 4096)}},
		"one too many":        {strings.Repeat("x", 4097), []string{strings.Repeat("x", 4096), "x"}},
		"emoji are two units": {strings.Repeat(emoji, 2048), []string{strings.Repeat(emoji, 2048)}},
		"an emoji is not cut": {"x" + strings.Repeat(emoji, 2048), []string{"x" + strings.Repeat(emoji, 2047), emoji}},
		"between paragraphs":  {strings.Repeat(line, 30) + "\n" + strings.Repeat(line, 20), []string{strings.TrimSpace(strings.Repeat(line, 30)), strings.Repeat(line, 20)}},
		"between lines":       {strings.Repeat(line, 50), []string{strings.TrimSpace(strings.Repeat(line, 40)), strings.Repeat(line, 10)}},
		"between words":       {strings.Repeat("word ", 820), []string{strings.TrimSpace(strings.Repeat("word ", 819)), "word "}},
		"what is not UTF-8":   {"a\xffb", []string{"a\uFFFDb"}},
	} {
		got := split(test.text)
		rig.Check(t, slices.Equal(got, test.want), "%s:\n%q, want\n%q", name, got, test.want)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("text\n\nmore ", 300)
	f.Add("\U0001F600 ", 2000)
	f.Fuzz(func(t *testing.T, text string, times int) {
		text = strings.Repeat(text, min(max(times, 0), 20_000/(len(text)+1)))
		letters := strings.NewReplacer(" ", "", "\n", "") // the cuts drop nothing else
		parts := split(text)
		for _, part := range parts {
			units := len(utf16.Encode([]rune(part)))
			rig.Check(t, units <= maxText && strings.TrimSpace(part) != "", "a part of %d units: %q", units, part)
		}
		rig.Check(t, letters.Replace(strings.Join(parts, "")) == letters.Replace(strings.ToValidUTF8(text, "\uFFFD")), "parts %q of %q", parts, text)
	})
}
