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
		f.Say("%s: its transcript %s; the whole one was put back from %s: %s", handle, back.What, back.From, back.To)
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
		return "not as it should be: " + v.Unkept.Error()
	}
	return cmp.Or(keptWords[v.Kept], "-")
}

var keptWords = map[archive.Freshness]string{
	archive.Emptied:   "-, for the transcript is empty",
	archive.Cut:       "-, for something was cut off the transcript itself; nbs-worker doctor says more",
	archive.Longer:    "in the archive, all of it; Claude's own has lost a part, and nbs-worker resume puts the whole one back",
	archive.OnlyCopy:  "in the archive; Claude's own is gone, and nbs-worker resume puts it back",
	archive.Linked:    "in the archive too: Claude may delete its own",
	archive.CopyFresh: "a copy in the archive, on another disk",
	archive.CopyStale: "a copy in the archive, on another disk",
}
