package memory

import (
	"strings"

	"nbs-worker/internal/fail"
)

// UserText returns the text of an error for people who read the output of a service. Its hints follow, one on each
// line.
func UserText(err error) string {
	return strings.Join(append([]string{err.Error()}, fail.HintsOf(err)...), "\nhint: ")
}
