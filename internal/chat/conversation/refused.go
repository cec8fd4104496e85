package conversation

import (
	"fmt"
	"strconv"
	"sync"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/turnfiles"
)

// refusals notes, in a file of the claude, that the API refuses it in a turn and that it tries again. Other processes
// show that; without the note they show only that the turn runs.
type refusals struct {
	files turnfiles.Files

	mu    sync.Mutex
	noted string // what the file says; "": there is no file
	over  bool   // the turn is over: an event that comes late is not noted
}

// hear takes an event of the turn.
func (r *refusals) hear(e turn.Event) {
	status := ""
	if e.Kind == turn.Refused {
		status = strconv.Itoa(e.Status)
	}
	r.note(status, false)
}

// end removes the note.
func (r *refusals) end() { r.note("", true) }

func (r *refusals) note(status string, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over && status != r.noted {
		if status == "" {
			_, _ = r.files.Take(turnfiles.Refused) // the next turn's end removes it otherwise
		} else {
			_, _ = r.files.Put(turnfiles.Refused, status)
		}
		r.noted = status
	}
	r.over = r.over || last
}

// refusal says that the API refuses claude in a turn that runs; "" if it does not.
func (e *Engine) refusal(t *conversations.Turn) string {
	text, _ := e.Project.Store.TurnFiles(t.Starts[len(t.Starts)-1].Invocation).Get(turnfiles.Refused)
	status, err := strconv.Atoi(text)
	switch {
	case err != nil: // there is no note
		return ""
	case status == 0:
		return "the API of Claude does not answer; Claude tries again"
	}
	return fmt.Sprintf("the API of Claude refuses (%d); Claude tries again", status)
}
