package conversation

import (
	"context"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/team/headless"
)

// An answer is reported once it is on disk: killing claude earlier would lose it, and all of a new conversation. With
// [turn.EagerFlush] it is on disk before claude reports it; without, up to 2.1.329, at most 0.1 s later. If Claude
// never writes it, for example on a full disk, it is reported after writtenWithin.
const (
	writtenWithin = time.Second
	writtenPoll   = time.Millisecond
)

// awaitWritten waits until the transcript has the attempt's answer. An empty answer is taken from there; if the transcript
// has none either, it is empty. lost: a warm claude, which only exits when told to, has ended, and its answer is empty or
// the transcript has nothing of the turn.
func (j *job) awaitWritten(ctx context.Context, s *headless.Session, o *turn.Outcome) (lost bool) {
	config, err := j.config()
	if err != nil || j.ask.Isolated || o.SessionID == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, writtenWithin)
	defer cancel()
	var mark turn.Mark
	for size := int64(-1); ; {
		ended := !s.Alive() // before the look, which is then the last one
		file, found, err := config.Transcript(o.SessionID)
		if found && file.Size != size {
			size = file.Size
			mark, err = turn.Marked(file, string(s.Invocation), j.turn.Seq)
		}
		empty := strings.TrimSpace(o.Answer) == ""
		switch {
		case err != nil: // an unreadable transcript does not delay the answer
			return false
		case mark.Answered && empty:
			o.Answer = mark.Answer
			return false
		case mark.Answered:
			return false
		case ended:
			return j.staysWarm() && (empty || !mark.Found)
		case clock.Sleep(ctx, writtenPoll) != nil:
			return false
		}
	}
}

// isThere reports whether Claude has a message of the session on disk. It returns true if that is unknown.
func (j *job) isThere(id agent.SessionID) bool {
	config, err := j.config()
	if err != nil {
		return true
	}
	file, found, err := config.Transcript(id)
	if err == nil && found {
		found, err = file.HasMessagesAfter(0)
	}
	return found || err != nil
}
