package fail

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Complaint is what nbs-worker has said in another place, such as a host, when it failed, as words or as JSON. It is not made legible.
type Complaint struct {
	Kind  Kind
	What  string
	Hints []string
	Rest  []string // other lines
}

// ReadComplaint reads the stderr of an nbs-worker that has ended with an exit code.
func ReadComplaint(code int, said string) Complaint {
	const program, hint, more = "nbs-worker: ", "hint: ", "  "
	c := Complaint{Kind: Kind(code), What: fmt.Sprintf("it ended with exit code %d", code)}
	if (code < 1 || code > int(Held)) && code != int(Interrupted) {
		c.Kind = Failed
	}
	inWhat := false
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\r\n")
		var coded struct {
			Error struct {
				Message string   `json:"message"`
				Hints   []string `json:"hints"`
			} `json:"error"`
		}
		was := inWhat
		inWhat = false
		switch {
		case strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &coded) == nil && coded.Error.Message != "":
			c.What, c.Hints = coded.Error.Message, append(c.Hints, coded.Error.Hints...)
		case strings.HasPrefix(line, program):
			c.What, inWhat = strings.TrimPrefix(line, program), true
		case strings.HasPrefix(line, hint):
			c.Hints = append(c.Hints, strings.TrimPrefix(line, hint))
		case was && strings.HasPrefix(line, more):
			c.What, inWhat = c.What+"\n"+line, true
		case line != "":
			c.Rest = append(c.Rest, line)
		}
	}
	return c
}
