package screen

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Draft returns the unsent text in the input box, from a screen that was read with the attributes of its characters
// (tmux capture-pane -e). found is false if there is no box. What Claude itself writes into an empty box is dim,
// except for the cursor, a reversed character, at its beginning. The exclamation mark of shell mode, in the place of
// the prompt's mark, counts as typed.
func Draft(styled string) (text string, found bool) {
	box, found := findBox(screenLines(Plain(styled)))
	if !found {
		return "", false
	}
	text = box.draft()
	if bright, _ := findBox(screenLines(visible(styled, func(s style) bool { return !s.dim }))); bright.draft() == text {
		return text, true
	}
	return Uncovered(styled), true
}

// Uncovered returns the draft without the character under the cursor. At the end of a draft that character may be
// Claude's: the single character that it would add to a command looks like a typed one.
func Uncovered(styled string) string {
	typed, _ := findBox(screenLines(visible(styled, func(s style) bool { return !s.dim && !s.reversed })))
	return typed.draft()
}

// Dense returns a text without the characters that a terminal changes: white space, characters without width, and the
// sign that Claude draws in place of some of these.
func Dense(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
}

// longPart is how many characters of a text prove that a draft has them from it: a person will hardly type the same
// ones.
const longPart = 20

// IsMadeOf reports whether a draft consists only of some texts: one or several, once or repeated, or a long part of
// one.
func IsMadeOf(draft string, texts ...string) bool {
	rest := Dense(draft)
	for before := ""; rest != before && rest != ""; {
		before = rest
		for _, text := range texts {
			if text = Dense(text); text != "" {
				rest = strings.TrimPrefix(rest, text)
			}
		}
	}
	if rest == "" {
		return Dense(draft) != ""
	}
	return utf8.RuneCountInString(rest) >= longPart && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(Dense(text), rest) })
}

// Indent returns the number of blanks in the box before the typed text.
func Indent(styled string) int {
	box, found := findBox(screenLines(Plain(styled)))
	if !found || box.draft() == "" {
		return 0
	}
	typed := []rune(strings.TrimPrefix(box.text[0], "❯"))
	return max(0, slices.IndexFunc(typed, func(r rune) bool { return !unicode.IsSpace(r) })-1)
}

// Suggestion returns the first command that Claude offers below its box, which Enter would take, or "".
func Suggestion(screen string) string {
	box, _ := findBox(screenLines(screen))
	for _, line := range box.footer {
		if word, _, _ := strings.Cut(strings.TrimLeft(line, "❯ "), " "); strings.HasPrefix(word, "/") {
			return word
		}
	}
	return ""
}

// Searches reports whether the box is that of a search in the history of prompts: the typed text is searched for, and
// Enter submits the prompt that was found.
func Searches(screen string) bool {
	box, _ := findBox(screenLines(screen))
	return slices.ContainsFunc(box.footer, func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, "search prompts:") || strings.HasPrefix(line, "no matching prompt:")
	})
}

// Stashed reports whether a person has stashed a draft. Claude puts it into the box when a prompt is submitted.
func Stashed(screen string) bool {
	box, _ := findBox(screenLines(screen))
	return slices.ContainsFunc(box.footer, func(line string) bool { return strings.HasSuffix(strings.TrimSpace(line), " stashed") })
}

// Plain returns a screen without the attributes of its characters.
func Plain(styled string) string { return visible(styled, func(style) bool { return true }) }

// draft returns the text in a box, without the prompt's mark.
func (b box) draft() string {
	if len(b.text) == 0 {
		return ""
	}
	lines := []string{strings.TrimPrefix(b.text[0], "❯")}
	for _, line := range b.text[1:] {
		lines = append(lines, strings.TrimPrefix(line, "  "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// style holds the used attributes of a character.
type style struct{ dim, reversed bool }

// sequence is an escape sequence: of attributes, or a link, which tmux writes since 3.4.
var sequence = pattern("\x1b\\[([0-9;:]*)[@-~]|\x1b\\][^\x1b\x07]*(?:\x1b\\\\|\x07)")

// visible returns a screen without its escape sequences, and with a blank in place of each character whose style seen
// rejects.
func visible(styled string, seen func(style) bool) string {
	var out strings.Builder
	var now style
	write := func(text string) {
		for _, r := range text {
			if r != '\n' && !seen(now) {
				r = ' '
			}
			out.WriteRune(r)
		}
	}
	at := 0
	for _, m := range sequence().FindAllStringSubmatchIndex(styled, -1) {
		write(styled[at:m[0]])
		if at = m[1]; styled[at-1] == 'm' && m[2] >= 0 {
			now = now.after(styled[m[2]:m[3]])
		}
	}
	write(styled[at:])
	return out.String()
}

// after returns the style after a sequence of attribute codes.
func (s style) after(codes string) style {
	words := strings.Split(codes, ";")
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "", "0":
			s = style{}
		case "2":
			s.dim = true
		case "22":
			s.dim = false
		case "7":
			s.reversed = true
		case "27":
			s.reversed = false
		case "38", "48", "58": // a colour: 5;N or 2;R;G;B
			if i+1 < len(words) && words[i+1] == "2" {
				i += 4
			} else {
				i += 2
			}
		}
	}
	return s
}
