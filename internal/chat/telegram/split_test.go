package telegram

import (
	"slices"
	"strings"
	"testing"

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
		"short":                     {"hello", []string{"hello"}},
		"nothing":                   {" \n\n", nil},
		"just fits":                 {strings.Repeat("x", 4096), []string{strings.Repeat("x", 4096)}},
		"one too many":              {strings.Repeat("x", 4097), []string{strings.Repeat("x", 4030), strings.Repeat("x", 67)}},
		"emoji are two units":       {strings.Repeat(emoji, 2048), []string{strings.Repeat(emoji, 2048)}},
		"an emoji is not cut":       {"x" + strings.Repeat(emoji, 2048), []string{"x" + strings.Repeat(emoji, 2014), strings.Repeat(emoji, 34)}},
		"between paragraphs":        {strings.Repeat(line, 30) + "\n" + strings.Repeat(line, 20), []string{strings.TrimSpace(strings.Repeat(line, 30)), strings.Repeat(line, 20)}},
		"between lines":             {strings.Repeat(line, 50), []string{strings.TrimSpace(strings.Repeat(line, 40)), strings.Repeat(line, 10)}},
		"between words":             {strings.Repeat("word ", 820), []string{strings.TrimSpace(strings.Repeat("word ", 806)), strings.Repeat("word ", 14)}},
		"a code block":              {"```go\n" + strings.Repeat(line, 50) + "```\nend", []string{"```go\n" + strings.Repeat(line, 40) + "```", "```go\n" + strings.Repeat(line, 10) + "```\nend"}},
		"a block within tildes":     {"~~~~\n```\n" + strings.Repeat(line, 50) + "~~~~", []string{"~~~~\n```\n" + strings.Repeat(line, 40) + "~~~~", "~~~~\n" + strings.Repeat(line, 10) + "~~~~"}},
		"a blank line in code":      {"```\n" + strings.Repeat(line, 38) + "\n" + strings.Repeat(line, 10) + "```", []string{"```\n" + strings.Repeat(line, 38) + "```", "```\n\n" + strings.Repeat(line, 10) + "```"}},
		"after a block":             {"```\ncode\n```\n" + strings.Repeat(line, 50), []string{"```\ncode\n```\n" + strings.TrimSpace(strings.Repeat(line, 40)), strings.Repeat(line, 10)}},
		"code within a line":        {"```x``` is code\n" + strings.Repeat(line, 50), []string{"```x``` is code\n" + strings.TrimSpace(strings.Repeat(line, 40)), strings.Repeat(line, 10)}},
		"what is not UTF-8":         {"a\xffb", []string{"a\uFFFDb"}},
		"a language without an end": {"```" + strings.Repeat("y", 5000), []string{"```" + strings.Repeat("y", 4027) + "\n```", "```\n" + strings.Repeat("y", 973)}},
	} {
		got := split(test.text)
		rig.Check(t, slices.Equal(got, test.want), "%s:\n%q, want\n%q", name, got, test.want)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("text\n```go\ncode\n```\n", 300)
	f.Add("~~~\n\U0001F600 ", 2000)
	f.Fuzz(func(t *testing.T, text string, times int) {
		text = strings.Repeat(text, min(max(times, 0), 20_000/(len(text)+1)))
		letters := func(text string) string { // what the cuts neither add nor drop
			return strings.Map(func(r rune) rune {
				if strings.ContainsRune(" \n`~", r) {
					return -1
				}
				return r
			}, text)
		}
		parts := split(text)
		for _, part := range parts {
			rig.Check(t, units(part) <= maxText && strings.TrimSpace(part) != "", "a part of %d units: %q", units(part), part)
		}
		rig.Check(t, strings.Contains(text, "```") || strings.Contains(text, "~~~") || letters(strings.Join(parts, "")) == letters(strings.ToValidUTF8(text, "\uFFFD")), "parts %q of %q", parts, text)
	})
}
