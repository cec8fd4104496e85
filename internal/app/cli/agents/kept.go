package agents

import (
	"cmp"

	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/inspect"
)

// keptLine describes whether the conversation outlives Claude's own transcript.
func keptLine(v inspect.View) string {
	if v.Unkept != nil {
		return "problem: " + v.Unkept.Error()
	}
	return cmp.Or(keptWords[v.Kept], "-")
}

var keptWords = map[archive.Freshness]string{
	archive.Emptied:   "no: the transcript is empty",
	archive.Cut:       "no: the transcript itself was cut short; nbs-worker doctor says more",
	archive.Longer:    "complete in the archive; Claude's copy has lost a part, and nbs-worker resume restores it",
	archive.OnlyCopy:  "in the archive; Claude's copy is gone, and nbs-worker resume restores it",
	archive.Linked:    "also in the archive: Claude may delete its copy",
	archive.CopyFresh: "a copy in the archive, on another disk",
	archive.CopyStale: "a copy in the archive, on another disk",
}
