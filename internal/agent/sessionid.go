package agent

import (
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"

	"github.com/google/uuid"
)

// SessionID is Claude Code's id of a conversation: a UUID in lower case. Claude compares ids as file names, so the
// same UUID in upper case is another session.
type SessionID string

// NewSessionID returns a new id.
func NewSessionID() SessionID { return SessionID(uuid.NewString()) }

// ParseSessionID checks an id in the canonical form of 36 characters, in either
// case, and returns it in lower case. Errors: BadInput.
func ParseSessionID(s string) (SessionID, error) {
	// uuid.Parse also takes braces, a urn prefix and bare hex; Claude does not.
	if _, err := uuid.Parse(s); err != nil || len(s) != 36 {
		return "", fail.Errorf(fail.BadInput, "session id %s is not a UUID", human.Quote(s))
	}
	return SessionID(strings.ToLower(s)), nil
}

// Invocation names one start of an agent. All processes of that start carry it in their environment.
type Invocation string

// NewInvocation returns a new invocation id.
func NewInvocation() Invocation { return Invocation(uuid.NewString()) }
