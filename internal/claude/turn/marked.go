package turn

import (
	"time"
	"unicode/utf8"

	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/human"
)

// Mark is what a transcript shows of a turn.
type Mark struct {
	transcript.Marked

	Denials []Denial // the tools that were refused

	Class Class // of the error of the API with which the turn ended; "": it did not end so
}

// Marked looks up a turn by its [Marker], or by the [TextID] of its text. A turn that is not found may still have
// been sent to the API: 2.1.197 writes a little later. If it is killed in between it leaves nothing, not even the
// file.
func Marked(file transcript.File, invocation string, seq int) (Mark, error) {
	marked, err := file.Marked(Marker(invocation, seq), TextID(invocation, seq))
	mark := Mark{Marked: marked}
	for _, d := range marked.Denied {
		mark.Denials = append(mark.Denials, denialOf(d.Tool, d.Input))
	}
	if marked.Failure != "" {
		e := end{result: &result{IsError: true, Status: marked.Status}, failure: marked.Failure, now: time.Now()}
		mark.Class, mark.Detail = e.classOf(marked.Detail), human.Cut(marked.Detail, detailKept, utf8.RuneLen)
	}
	return mark, err
}
