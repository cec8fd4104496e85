package conversation

import (
	"cmp"
	"time"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless"
)

// silenceOf returns how long claude may be silent in a turn; 0: without limit.
func silenceOf(ask *conversations.Request, meta *conversations.Meta) time.Duration {
	return max(0, cmp.Or(ask.Silence, meta.Silence, TurnTimeout)) // [conversations.Unlimited] is negative
}

// limits returns the limits of the turn.
func (j *job) limits() headless.Limits {
	return headless.Limits{Whole: j.ask.Timeout, Silence: silenceOf(&j.ask, &j.state.Meta), Stop: j.stop}
}

// acted returns the tools that ran in a turn without an answer: an answer tells of them itself.
func (j *job) acted(o *turn.Outcome) []string {
	if o.Class == turn.Answered {
		return nil
	}
	return o.Acted
}

// Acted says which tools ran in a turn that ended without an answer: what they did stays. "": none did.
func Acted(r *conversations.Result) string {
	if len(r.Acted) == 0 {
		return ""
	}
	return "Claude had used " + human.And(r.Acted)
}
