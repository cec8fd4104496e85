package units

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// unit is a service, as far as the units of a team go.
type unit struct {
	name    string
	kind    string
	after   []string
	unless  string // ConditionPathExistsGlob=!
	command []string
	env     []string
}

func read(name string) (unit, error) {
	text, err := os.ReadFile(filepath.Join(folder(), name))
	if err != nil {
		return unit{}, fmt.Errorf("unit %s not found", name)
	}
	u := unit{name: name, env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}
	for _, variable := range []string{"HOME", "XDG_RUNTIME_DIR", "USER", "SHELL"} {
		if value, ok := os.LookupEnv(variable); ok {
			u.env = append(u.env, variable+"="+value)
		}
	}
	var files []string // they win over Environment=
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "Type":
			u.kind = value
		case "After":
			u.after = strings.Fields(value)
		case "ConditionPathExistsGlob":
			u.unless = strings.ReplaceAll(strings.TrimPrefix(value, "!"), "%%", "%")
		case "Environment":
			u.env = append(u.env, split(value)...)
		case "EnvironmentFile":
			path := strings.ReplaceAll(strings.TrimPrefix(value, "-"), "%E", filepath.Join(os.Getenv("HOME"), ".config"))
			more, _ := os.ReadFile(path) // it need not exist
			files = append(files, strings.Fields(string(more))...)
		case "ExecStart":
			u.command = split(value)
		}
	}
	if len(u.command) == 0 {
		return unit{}, fmt.Errorf("unit %s has no ExecStart", name)
	}
	for i, arg := range u.command[1:] {
		u.command[1+i] = strings.ReplaceAll(arg, "$$", "$")
	}
	u.env = append(u.env, files...)
	return u, nil
}

// split splits the value of a setting into words, as systemd does.
func split(value string) (words []string) {
	var word strings.Builder
	quoted, begun := false, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			quoted, begun = !quoted, true
		case c == ' ' && !quoted:
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		case c == '\\' && strings.HasPrefix(value[i:], `\x`) && i+4 <= len(value):
			code, _ := strconv.ParseUint(value[i+2:i+4], 16, 8) // another letter is a zero
			word.WriteByte(byte(code))
			begun = true
			i += 3
		case (c == '\\' || c == '%') && i+1 < len(value): // \" \\ \; %%
			i++
			word.WriteByte(value[i])
			begun = true
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}
