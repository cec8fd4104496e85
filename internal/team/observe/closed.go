package observe

import (
	"strings"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/store"
)

// Closed returns what no claude of the project may touch. It must not edit anything in .nbs, because that decides
// what its colleagues run. It must not read the user's own folders outside the project: the key, transcripts and
// environments.
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
