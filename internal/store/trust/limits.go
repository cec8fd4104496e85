package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
)

// Limits bound what agents may start by themselves. They do not apply to a person.
type Limits struct {
	Agents int `json:"agents"` // of a project
	Depth  int `json:"depth"`  // how many agents may stand between an agent and a person
}

const (
	limitsFile  = "limits.json"
	limitsBytes = 4 << 10
)

// Limits reads limits.json in the folder. A limit that the file does not name has its default. Errors: Unfit when the
// file cannot be understood: that must not lift a limit.
func (h Home) Limits() (Limits, error) {
	limits := Limits{Agents: 50, Depth: 3}
	path := h.Path(limitsFile)
	data, err := smallfile.Read(path, limitsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return limits, nil
	}
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields() // a slip of the finger must not go unnoticed
		err = decoder.Decode(&limits)
		if _, more := decoder.Token(); err == nil && !errors.Is(more, io.EOF) {
			err = errors.New("the file has more than one value")
		}
	}
	if err == nil && (limits.Agents < 0 || limits.Depth < 0) {
		err = errors.New("a limit is negative")
	}
	if err != nil {
		return limits, fail.Errorf(fail.Unfit, "the limits of agents %s cannot be used: %w", human.Quote(path), err).
			Hint("replace it: %s", h.SetLimits(Limits{Agents: 50, Depth: 3}))
	}
	return limits, nil
}

// SetLimits returns the command that sets the limits.
func (h Home) SetLimits(limits Limits) string {
	text := fmt.Sprintf(`{"agents": %d, "depth": %d}`, limits.Agents, limits.Depth)
	return "echo " + human.ShellWord(text) + " >" + human.ShellWord(h.Path(limitsFile))
}
