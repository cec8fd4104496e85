package conversation

import (
	"context"
	"strings"
)

// hasContext reports whether Claude gets something beside the text.
func (j *job) hasContext() bool { return j.ask.ContextCmd != "" || j.ask.Context != "" }

// beside returns what Claude gets beside the user's text.
func (j *job) beside(ctx context.Context) string {
	var parts []string
	for _, part := range []string{j.ask.Context, j.background(ctx)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n")
}
