package launcher

import (
	"strings"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/store"
)

// Settings are Claude's settings for an agent of the project. They keep it from editing .nbs, which
// decides what its colleagues run, and from reading what is kept outside of the project: the user's
// key, transcripts and environments.
func Settings(program string, in *store.Store) string {
	closed := claude.Closed{Edits: []string{in.Folder()}}
	if home := string(in.Home()); home != "" {
		closed.All = append(closed.All, home)
	}
	if runtime := in.Runtime(); runtime != "" && !strings.HasPrefix(runtime, string(in.Home())+"/") {
		closed.All = append(closed.All, runtime)
	}
	return claude.Settings(program, closed)
}
