package memory

import (
	"strings"

	"nbs-worker/internal/agent"
)

// Told is an error for people who read what a service says: its remedies stand below it, a line each.
func Told(err error) string {
	return strings.Join(append([]string{err.Error()}, agent.HintsOf(err)...), "\nhint: ")
}
