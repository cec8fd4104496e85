package export

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"nbs-worker/internal/agent"
)

// command is a command line of a unit. systemd expands a '$' in the arguments, and takes it as it is
// in the path of the program.
func command(program string, args ...string) string {
	words := agent.Mapped(args, func(arg string) string { return strings.ReplaceAll(setting(arg), "$", "$$") })
	return strings.Join(append([]string{setting(program)}, words...), " ")
}

// setting is one word of a unit's setting. '%' begins a specifier everywhere.
func setting(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !isPlain(r) && r != '=' }) {
		return word
	}
	var b strings.Builder
	b.WriteByte('"')
	for rest := word; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == utf8.RuneError && size == 1, r < ' ', r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, rest[0])
		case r == '"' || r == '\\':
			b.WriteString(`\` + rest[:size])
		case r == '%':
			b.WriteString("%%")
		default:
			b.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	b.WriteByte('"')
	return b.String()
}

// text is what a person reads in a unit, on one line.
func text(s string) string {
	line := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError || r == '\\' {
			return '?'
		}
		return r
	}, s)
	return strings.ReplaceAll(line, "%", "%%")
}

// pattern is a path of a condition, which has no quotes: for a character that cannot stand there it has a '?'.
func pattern(path string) string { return text(strings.ReplaceAll(path, "[", "?")) }

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:-", r)
}
