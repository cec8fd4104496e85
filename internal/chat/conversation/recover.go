package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless"
)

// What to do with a text that was sent and has no answer, when it is unknown how far claude got.
const (
	UnknownAsk      = "ask"      // a person decides
	UnknownContinue = "continue" // claude is asked for an answer, and the text is not sent again
	UnknownRerun    = "rerun"    // the text is sent again
)

// lookUp determines, after a kill, what became of the turn's last attempt. ended: the turn is over or held, and that is recorded.
// Otherwise j.text is what the next attempt sends.
func (j *job) lookUp(ctx context.Context) (ended bool, err error) {
	last := j.turn.Starts[len(j.turn.Starts)-1]
	if err := j.endLeft(ctx, j.state.Meta.Key, last); err != nil {
		return false, err
	}
	said, at, err := j.marked()
	if err != nil {
		return false, err
	}
	if said == nil { // the text never reached a transcript
		return false, j.takeBack(ctx)
	}
	here := !j.ask.Isolated && at.Era == j.state.Era // the next attempt is in the session that has the text
	if said.Answered {
		if !here {
			j.state.TellReset = nil // it was answered before the reset
		}
		j.mode = at.Mode
		return true, j.finish(ctx, turn.Outcome{Answer: said.Answer, SessionID: j.present(at), Denials: said.Denials}, at.At)
	}
	if here {
		j.text = turn.Continue
		if err := j.confirm(ctx, at.Session); err != nil {
			return false, err
		}
	}
	switch j.onUnknown(said) {
	case UnknownRerun:
		j.text = textOf(&j.ask)
		return false, nil
	case UnknownContinue:
		return false, nil
	default:
		return true, j.hold(ctx, conversations.Held{Class: "unknown", Reason: fmt.Sprintf("claude was ended in the middle of the turn, after it had used tools; what they did is unknown. The turn is in session %s", at.Session)})
	}
}

// present returns the session of an attempt; "" if the conversation has got another one since then.
func (j *job) present(at conversations.Start) agent.SessionID {
	if at.Era != j.state.Era {
		return ""
	}
	return at.Session
}

// confirm records that Claude has the session. Before that, its id was only generated.
func (j *job) confirm(ctx context.Context, id agent.SessionID) error {
	if j.ask.Isolated || j.state.Session.Confirmed || id == "" {
		return nil
	}
	err := j.c.Confirm(ctx, id)
	if err == nil {
		j.state.Session = conversations.Session{ID: id, Confirmed: true}
	}
	return err
}

// onUnknown returns how to continue with a text that has no answer. The request decides. If it does not, a person
// decides when tools were used, since they could act twice; otherwise claude is asked for the answer. It is also
// asked when the failure is known or a person has decided.
func (j *job) onUnknown(said *turn.Mark) string {
	failed := j.turn.Held != nil && j.turn.Held.Class != string(turn.SessionInUse) // it says nothing about the text
	decided := failed || j.turn.Tries == 0
	switch {
	case decided && j.ask.OnUnknown != UnknownRerun:
		return UnknownContinue
	case failed, said.Class != "": // after a known failure the text is not sent again
		return UnknownContinue
	case j.ask.OnUnknown != "":
		return j.ask.OnUnknown
	case said.Tools:
		return UnknownAsk
	default:
		return UnknownContinue
	}
}

// endLeft ends what is left of an attempt whose runner is gone.
func (e *Engine) endLeft(ctx context.Context, key conversations.Key, s conversations.Start) error {
	e.Warm.Drop(ctx, key)
	return headless.EndLeft(ctx, e.Project, s.Invocation)
}

// marked looks for the turn's text in the transcripts of its attempts, latest first. It returns the mark, and the
// attempt with the session that has the text. The mark is nil if no transcript has the text.
func (j *job) marked() (*turn.Mark, conversations.Start, error) {
	config, err := j.config()
	if err != nil {
		return nil, conversations.Start{}, err
	}
	for _, s := range slices.Backward(j.turn.Starts) {
		s.Session = cmp.Or(s.Said, s.Session)
		file, found, err := config.Transcript(s.Session)
		if err != nil {
			return nil, s, err
		}
		if !found {
			continue
		}
		said, err := turn.Marked(file, string(s.Invocation), j.turn.Seq)
		if err != nil {
			return nil, s, err
		}
		if said.Found {
			return &said, s, nil
		}
	}
	return nil, conversations.Start{}, nil
}

// Skip gives up an open turn (0: the first one), and ends the remaining processes of its last attempt. Errors:
// NotFound; Conflict while a turn of the conversation is being answered.
func (e *Engine) Skip(ctx context.Context, key conversations.Key, seq int, why string) (given int, err error) {
	c := e.Project.Store.Conversations().Of(key)
	unlock, err := c.TryTurn()
	if err != nil {
		return 0, err
	}
	if unlock == nil {
		return 0, fail.Errorf(fail.Conflict, "a turn of the conversation is running").Hint("to see it: nbs-worker conversation queue %s", human.ShellWord(string(key)))
	}
	defer unlock()
	_, t, err := e.OpenTurn(key, seq)
	if err != nil {
		return 0, err
	}
	if n := len(t.Starts); n > 0 {
		if err := e.endLeft(ctx, key, t.Starts[n-1]); err != nil {
			return 0, err
		}
	}
	return t.Seq, c.Skip(ctx, t.Seq, why)
}

// OpenTurn returns the first open turn, and the one with the number (0: the first). Errors: NotFound.
func (e *Engine) OpenTurn(key conversations.Key, seq int) (head, wanted conversations.Turn, err error) {
	state, err := e.Project.Store.Conversations().Of(key).State()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return head, wanted, ErrNone(key)
	case err != nil:
		return head, wanted, err
	case len(state.Open) == 0:
		return head, wanted, fail.Errorf(fail.NotFound, "no turn of the conversation is waiting").Hint("to see what was said: nbs-worker conversation history %s", human.ShellWord(string(key)))
	}
	for _, t := range state.Open {
		if seq == 0 || t.Seq == seq {
			return state.Open[0], t, nil
		}
	}
	return head, wanted, fail.Errorf(fail.NotFound, "turn %d is not waiting", seq).Hint("to see those that do: nbs-worker conversation queue %s", human.ShellWord(string(key)))
}
