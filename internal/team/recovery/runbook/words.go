package runbook

import (
	"errors"
	"fmt"
	"strings"
)

// word is one argument of a command: a text, or the value of a parameter.
type word struct {
	text      string
	parameter string // "" for a text
}

// split splits a line into words like a shell: blanks separate, quotes join. Other syntax of a shell is an error.
func split(line string) ([]word, error) {
	var words []word
	for rest := strings.TrimLeft(line, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		one, behind, err := cut(rest)
		if err != nil {
			return nil, err
		}
		words = append(words, one)
		rest = behind
	}
	return words, nil
}

// cut cuts the first word off a line that begins with a word.
func cut(line string) (one word, rest string, err error) {
	if name, rest, ok := cutParameter(line); ok {
		return word{parameter: name}, rest, nil
	}
	var text strings.Builder
	for rest = line; rest != "" && rest[0] != ' '; {
		var part string
		switch quote := rest[:1]; quote {
		case "'", `"`:
			part, rest, err = cutQuoted(rest[1:], quote)
		default:
			part, rest, err = cutPlain(rest)
		}
		if err != nil {
			return word{}, "", err
		}
		text.WriteString(part)
	}
	return word{text: text.String()}, rest, nil
}

// cutParameter cuts off $name or "$name", if that is the whole word.
func cutParameter(line string) (name, rest string, ok bool) {
	whole, rest, _ := strings.Cut(line, " ")
	if len(whole) > 2 && whole[0] == '"' && whole[len(whole)-1] == '"' {
		whole = whole[1 : len(whole)-1]
	}
	name, ok = strings.CutPrefix(whole, "$")
	return name, rest, ok && isName(name)
}

func cutQuoted(line, quote string) (text, rest string, err error) {
	text, rest, closed := strings.Cut(line, quote)
	if !closed {
		return "", "", fmt.Errorf("a %s is not closed", quote)
	}
	if at := strings.IndexAny(text, "$`\\!"); quote == `"` && at >= 0 {
		return "", "", unsafe(text[at : at+1])
	}
	return text, rest, nil
}

// active are the characters that have a meaning in a shell if they are not quoted.
const active = "|&;<>()$`\\*?[]{}~#!\t"

func cutPlain(line string) (text, rest string, err error) {
	end := strings.IndexAny(line, ` '"`+active)
	if end < 0 {
		return line, "", nil
	}
	if strings.ContainsRune(active, rune(line[end])) {
		return "", "", unsafe(line[end : end+1])
	}
	return line[:end], line[end:], nil
}

func unsafe(character string) error {
	if character == "$" {
		return errors.New(`a "$" stands for a parameter only as a whole word, such as $handle`)
	}
	return fmt.Errorf("there is no shell, and %q is for one; put it in '...' if it is a text", character)
}
