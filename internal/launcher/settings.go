package launcher

import (
	"nbs-worker/internal/claude"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/store"
)

// Settings are Claude's settings for an agent of the project.
func Settings(program string, in *store.Store) string {
	return claude.Settings(program, observe.Closed(in))
}
