package conversation

import (
	"context"
	"time"

	"nbs-worker/internal/claude/turn"
)

// An answer is told once it is on disk: a claude that is killed before that takes along what was told, and of a new
// conversation all. 2.1.197 writes 0.1 s later than it answers, 2.1.329 at once. What Claude never writes, such as
// the answer to a command of its own, is told after writtenWithin.
const (
	writtenWithin = time.Second
	writtenPoll   = time.Millisecond
)

// awaitWritten waits until the transcript has the answer of the attempt.
func (j *job) awaitWritten(ctx context.Context, w *worker, o turn.Outcome) {
	config, err := j.config()
	if err != nil || j.ask.Isolated {
		return
	}
	isWritten := func() (bool, error) {
		file, found, err := config.Transcript(o.SessionID)
		if err != nil || !found {
			return false, err
		}
		mark, err := turn.Marked(file, string(w.invocation), j.turn.Seq)
		return mark.Answered, err
	}
	ctx, cancel := context.WithTimeout(ctx, writtenWithin)
	defer cancel()
	again := time.NewTicker(writtenPoll)
	defer again.Stop()
	for {
		if written, err := isWritten(); written || err != nil { // what cannot be read does not keep the answer back
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}
