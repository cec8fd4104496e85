package export

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"nbs-worker/internal/agent"
)

// command returns a command line of a unit. systemd expands a '$' in the arguments, but not in the path of the
// program.
func command(program string, args ...string) string {
	words := agent.Mapped(args, func(arg string) string { return strings.ReplaceAll(setting(arg), "$", "$$") })
	return strings.Join(append([]string{setting(program)}, words...), " ")
}

// setting returns one word of a unit's setting. '%' begins a specifier everywhere.
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

// text returns a text for people in a unit, on one line.
func text(s string) string {
	line := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError || r == '\\' {
			return '?'
		}
		return r
	}, s)
	return strings.ReplaceAll(line, "%", "%%")
}

// pattern returns a path of a condition. A condition has no quotes, so a '?' replaces each character that cannot be
// written there.
func pattern(path string) string { return text(strings.ReplaceAll(path, "[", "?")) }

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:-", r)
}
