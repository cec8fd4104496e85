package launcher

import (
	"nbs-worker/internal/claude"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// Settings returns Claude's settings for an agent of the project.
func Settings(program string, in *store.Store) string {
	return claude.Settings(program, observe.Closed(in))
}
