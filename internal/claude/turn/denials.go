package turn

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"nbs-worker/internal/human"
)

// Denial is a use of a tool that Claude was not permitted.
type Denial struct {
	Tool  string
	Input string // what the tool was to act on, on one line; at most 200 bytes
}

const inputKept = 200 // bytes

// denials returns the tools that were refused in a turn. 2.1.197 does not count a file that a deny rule names.
func (r *result) denials() (all []Denial) {
	for _, d := range r.Denials {
		all = append(all, denialOf(d.Tool, d.Input))
	}
	return all
}

func denialOf(tool string, input json.RawMessage) Denial {
	return Denial{Tool: tool, Input: human.Cut(human.OneLine(cmp.Or(purpose(input), string(input))), inputKept, utf8.RuneLen)}
}

// ignoredRules returns Claude's warning that the permission rules of a folder do not count, because Claude does not
// trust that folder itself; "" if there is no such warning. It is printed once, at the start.
func ignoredRules(stderr string) string {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "Ignoring ") && strings.Contains(line, "has not been trusted") {
			return human.Cut(strings.TrimSpace(line), detailKept, utf8.RuneLen)
		}
	}
	return ""
}
