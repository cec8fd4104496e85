package agents

import (
	"cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/keep"
)

// sayTranscript reports, also to scripts, that a transcript was restored or is shorter than before.
func sayTranscript(f *ui.Factory, handle agent.Handle, back *keep.Restored, loss *keep.Loss) {
	if back != nil {
		f.Say("%s: its transcript %s; it was restored from %s: %s", handle, back.What, back.From, back.To)
	}
	if loss != nil {
		f.Say("warning: %s: %s", handle, loss)
	}
}

// warnUnkept warns that Claude's transcript is the only copy. The verb itself has succeeded.
func warnUnkept(f *ui.Factory, verb string, handle agent.Handle, err error) {
	if err == nil {
		return
	}
	f.Say("warning: %s %s: %v", verb, handle, err)
	for _, hint := range fail.HintsOf(err) {
		f.Hint("%s", hint)
	}
}

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
