package conversation

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/platform/clock"
)

// An answer is told once it is on disk: a claude that is killed before that takes along what was told, and of a new
// conversation all. With [turn.EagerFlush] it is there before the answer comes. Without, up to 2.1.329 it comes at most
// 0.1 s later; what Claude never writes, as on a full disk, is told after writtenWithin.
const (
	writtenWithin = time.Second
	writtenPoll   = time.Millisecond
)

// awaitWritten waits until the transcript has the answer of the attempt. lost: a warm claude, which stays until it is
// ended, has ended, and left nothing of the turn.
func (j *job) awaitWritten(ctx context.Context, w *worker, o turn.Outcome) (lost bool) {
	config, err := j.config()
	if err != nil || j.ask.Isolated || o.SessionID == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, writtenWithin)
	defer cancel()
	var mark turn.Mark
	for size := int64(-1); ; {
		ended := !w.alive() // before the look, which is the last one then
		file, found, err := config.Transcript(o.SessionID)
		if found && file.Size != size {
			size = file.Size
			mark, err = turn.Marked(file, string(w.invocation), j.turn.Seq)
		}
		if mark.Answered || err != nil { // what cannot be read does not keep the answer back
			return false
		}
		if ended {
			return j.staysWarm() && !mark.Found
		}
		if clock.Sleep(ctx, writtenPoll) != nil {
			return false
		}
	}
}

// isThere reports whether Claude has the session on disk, or that cannot be seen.
func (j *job) isThere(id agent.SessionID) bool {
	config, err := j.config()
	if err != nil {
		return true
	}
	_, found, err := config.Transcript(id)
	return found || err != nil
}
