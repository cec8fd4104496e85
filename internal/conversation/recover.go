package conversation

import (
	"context"
	"fmt"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store/conversations"
)

// What is done about a text that was said and has no answer, when nobody knows how far claude came.
const (
	UnknownAsk      = "ask"      // a person decides
	UnknownContinue = "continue" // it is asked for an answer, and the text is not said again
	UnknownRerun    = "rerun"    // the text is said again
)

// endGrace is how long what is left of an attempt has to leave.
const endGrace = 5 * time.Second

// lookUp finds out what became of the last attempt at the turn. ended: the turn is over, or held, and that
// is written down. Else the attempt that follows says j.text.
func (j *job) lookUp(ctx context.Context) (ended bool, err error) {
	last := j.turn.Starts[len(j.turn.Starts)-1]
	if err := j.endLeftovers(ctx, last); err != nil {
		return false, err
	}
	said, err := j.marked()
	if err != nil || said == nil {
		return false, err // it never stood in the transcript
	}
	if said.Answered {
		return true, j.finish(ctx, &worker{session: last.Session, mode: last.Mode}, turn.Outcome{Answer: said.Answer, SessionID: last.Session}, last.At)
	}
	switch unknown := j.onUnknown(said); unknown {
	case UnknownRerun:
		return false, nil
	case UnknownContinue:
		j.text = turn.Continue
		return false, nil
	default:
		return true, j.hold(ctx, conversations.Held{Class: "unknown", Reason: fmt.Sprintf("claude was ended at work on it, after it had used tools; nobody knows what they have done. It said it in %s", last.Session)})
	}
}

// onUnknown is what the asker wants. Unless that was said, what may be done twice is for a person to decide, and
// an answer alone is asked for. Where it is known how the turn failed, or a person has decided, it goes on.
func (j *job) onUnknown(said *turn.Mark) string {
	decided := j.turn.Held != nil || j.turn.Tries == 0
	switch {
	case decided && j.ask.OnUnknown != UnknownRerun:
		return UnknownContinue
	case j.turn.Held != nil, said.Class != "": // of a failure that is known nothing is said again
		return UnknownContinue
	case j.ask.OnUnknown != "":
		return j.ask.OnUnknown
	case said.Tools:
		return UnknownAsk
	default:
		return UnknownContinue
	}
}

// endLeftovers ends what is left of an attempt whose runner is gone.
func (j *job) endLeftovers(ctx context.Context, s conversations.Start) error {
	left, err := proc.Carrying(agent.TurnVariable, string(s.Invocation))
	if err != nil {
		return err
	}
	if j.Warm != nil {
		j.Warm.drop(ctx, j.state.Meta.Key)
	}
	return proc.StopAll(ctx, left, endGrace)
}

// marked looks for the text of the turn in the transcripts of its attempts; nil: it is in none.
func (j *job) marked() (*turn.Mark, error) {
	config, err := j.config()
	if err != nil {
		return nil, err
	}
	for i := len(j.turn.Starts) - 1; i >= 0; i-- {
		s := j.turn.Starts[i]
		file, found, err := config.Transcript(s.Session)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		said, err := turn.Marked(file, turn.Marker(string(s.Invocation), j.turn.Seq))
		if err != nil {
			return nil, err
		}
		if said.Found {
			return &said, nil
		}
	}
	return nil, nil //nolint:nilnil // nothing failed, and nothing is there
}
