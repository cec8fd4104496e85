package memory

import (
	"strings"

	"nbs-worker/internal/fail"
)

// UserText is the text of an error for people who read the output of a service: its hints follow, a line each.
func UserText(err error) string {
	return strings.Join(append([]string{err.Error()}, fail.HintsOf(err)...), "\nhint: ")
}
