package observe

import (
	"strings"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/store"
)

// Closed is what no claude of the project's may touch: it edits nothing in .nbs, which decides what its colleagues run,
// and reads nothing of what is kept outside of the project: the user's key, transcripts and environments.
func Closed(in *store.Store) claude.Closed {
	closed := claude.Closed{Edits: []string{in.Folder()}}
	if home := string(in.Home()); home != "" {
		closed.All = append(closed.All, home)
	}
	if runtime := in.Runtime(); runtime != "" && !strings.HasPrefix(runtime, string(in.Home())+"/") {
		closed.All = append(closed.All, runtime)
	}
	return closed
}
