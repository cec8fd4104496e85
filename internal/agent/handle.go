package agent

import (
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Handle is an agent's name. Handles that differ only in case name the same agent.
type Handle string

const handleLimit = 64

// ParseHandle checks a handle given by a user or read from a file.
// Errors: BadInput.
func ParseHandle(s string) (Handle, error) {
	if len(s) <= handleLimit && isWord(s, "", "_-") {
		return Handle(s), nil
	}
	return "", fail.Errorf(fail.BadInput, "handle %s is not valid: use 1 to 64 letters, digits, '_' and '-', and begin with a letter or digit", human.Quote(s))
}

// Key returns the form in which handles are compared and lock files are named.
func (h Handle) Key() string { return strings.ToLower(string(h)) }

// Same reports whether two handles name the same agent.
func (h Handle) Same(other Handle) bool { return h.Key() == other.Key() }
