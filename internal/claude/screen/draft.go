package screen

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Draft returns what somebody has typed into the input box and not sent yet, from a screen that was
// read with the attributes of its characters (tmux capture-pane -e). found is false where there is
// no box. What Claude itself writes into an empty box is dim, except for the cursor, a reversed
// character, at its beginning. The exclamation mark of shell mode, in the place of the prompt's mark,
// counts as typed.
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

// Uncovered is the draft without the character under the cursor. At the end of a draft that may be Claude's: the only one
// that it would add to a command looks like a typed one.
func Uncovered(styled string) string {
	typed, _ := findBox(screenLines(visible(styled, func(s style) bool { return !s.dim && !s.reversed })))
	return typed.draft()
}

// Dense is a text without what a terminal changes in it: white space, characters that have no width, and the sign that
// Claude draws in the place of some of these.
func Dense(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
}

// longPart is how many characters of a text prove that they are of it: a person hardly types the same ones.
const longPart = 20

// IsMadeOf reports whether a draft is made of some texts and nothing else: of one or several, once or more often, or of a
// long part of one.
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

// Indent is how many blanks are in the box before what is typed in it.
func Indent(styled string) int {
	box, found := findBox(screenLines(Plain(styled)))
	if !found || box.draft() == "" {
		return 0
	}
	typed := []rune(strings.TrimPrefix(box.text[0], "❯"))
	return max(0, slices.IndexFunc(typed, func(r rune) bool { return !unicode.IsSpace(r) })-1)
}

// Suggestion is the first command that Claude offers below its box, which Enter would take; "" for
// none.
func Suggestion(screen string) string {
	box, _ := findBox(screenLines(screen))
	for _, line := range box.footer {
		if word, _, _ := strings.Cut(strings.TrimLeft(line, "❯ "), " "); strings.HasPrefix(word, "/") {
			return word
		}
	}
	return ""
}

// Searches reports whether the box is that of a search in the history of prompts: what is typed is searched for, and Enter
// submits what was found.
func Searches(screen string) bool {
	box, _ := findBox(screenLines(screen))
	return slices.ContainsFunc(box.footer, func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, "search prompts:") || strings.HasPrefix(line, "no matching prompt:")
	})
}

// Stashed reports whether a person has stashed a draft, which Claude puts into the box when a prompt is submitted.
func Stashed(screen string) bool {
	box, _ := findBox(screenLines(screen))
	return slices.ContainsFunc(box.footer, func(line string) bool { return strings.HasSuffix(strings.TrimSpace(line), " stashed") })
}

// Plain is a screen without the attributes of its characters.
func Plain(styled string) string { return visible(styled, func(style) bool { return true }) }

// draft is the text in a box, without the prompt's mark.
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

// style holds the attributes of a character that are used.
type style struct{ dim, reversed bool }

// sequence is an escape sequence: of attributes, or a link that tmux writes since 3.4.
var sequence = pattern("\x1b\\[([0-9;:]*)[@-~]|\x1b\\][^\x1b\x07]*(?:\x1b\\\\|\x07)")

// visible returns a screen without its escape sequences, and with a blank in the place of each
// character whose style seen rejects.
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
