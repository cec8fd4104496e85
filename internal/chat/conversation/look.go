package conversation

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless"
)

// The states of an open turn.
const (
	Queued  = "queued"
	Running = "running"
	Later   = "held" // until a time
	Dead    = "dead" // until a person decides: a dead letter
)

// Waiting is a turn that has no answer yet.
type Waiting struct {
	conversations.Turn
	Word string // its state
	Text string

	Refusal string // of a running turn, in words: the API refuses claude; "": it does not

	conversations.Rights      // that were asked for with the text
	Command              bool // the text is a command that Claude runs
}

// Open are the open turns of a conversation, in their order.
func (e *Engine) Open(state *conversations.State) ([]Waiting, error) {
	c := e.Project.Store.Conversations().Of(state.Meta.Key)
	all := []Waiting{}
	for _, t := range state.Open {
		ask, err := c.Request(t.Seq)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has finished by now
		}
		if err != nil {
			return nil, err
		}
		w := Waiting{Turn: t, Word: e.wordOf(&t), Text: ask.Text, Rights: ask.Rights, Command: ask.Command}
		if w.Word == Running {
			w.Refusal = e.refusal(&t)
		}
		all = append(all, w)
	}
	return all, nil
}

func (e *Engine) wordOf(t *conversations.Turn) string {
	switch {
	case t.Held != nil && t.Held.Until.IsZero():
		return Dead
	case t.Held != nil:
		return Later
	case len(t.Starts) > 0 && e.Project.Machine.IsAlive(t.Starts[len(t.Starts)-1].Runner):
		return Running
	default:
		return Queued
	}
}

// ErrOf returns the error of a failed turn; nil if it was answered.
func ErrOf(key conversations.Key, r conversations.Result) error {
	named := human.ShellWord(string(key))
	switch turn.Class(r.Class) {
	case "":
		return nil
	case ClassLost:
		return fail.Errorf(fail.NotFound, "%s", r.Error).
			Hint("put a backup of its transcript back, or begin a new conversation: nbs-worker conversation reset %s", named).
			Hint("to begin a new one automatically: nbs-worker ask %s TEXT --on-lost fresh", named)
	case classTimedOut:
		return timedOut(named, &r)
	case turn.Interrupted:
		return stoppedError(named, &r)
	case turn.BadModel:
		return fail.Errorf(fail.BadInput, "%s", r.Error).Hint("name another one: nbs-worker ask %s TEXT --model sonnet", named)
	case turn.TooLong:
		return fail.Errorf(fail.Failed, "%s", r.Error).Hint("begin a new conversation: nbs-worker conversation reset %s", named)
	case turn.Blocked:
		return fail.Errorf(fail.Failed, "a hook of yours refused the text: %s; the conversation is kept", r.Error).
			Hint("to see your hooks: claude, then /hooks").
			Hint("or say it in other words: nbs-worker ask %s TEXT", named)
	case turn.UnknownCommand:
		return fail.Errorf(fail.BadInput, "%s; the conversation is kept", r.Error).
			Hint("the commands of a project are in .claude/commands, your own in ~/.claude/commands")
	case ClassDenied:
		return fail.Errorf(fail.Failed, "%s", r.Error).Hint("what Claude may do: nbs-worker help permissions")
	case conversations.Skipped:
		return fail.Errorf(fail.Failed, "%s", r.Error)
	default:
		return fail.Errorf(fail.Failed, "%s; the conversation is kept", r.Error).Hint("to see it: nbs-worker conversation show %s", named)
	}
}

// timedOut returns the error of a turn that a limit ended. After tools have acted, the text is not to be sent again.
func timedOut(named string, r *conversations.Result) error {
	if acted := Acted(r); acted != "" {
		return fail.Errorf(fail.TimedOut, "%s; %s; the conversation is kept", r.Error, acted).
			Hint("to see what was done: nbs-worker conversation history %s --tools", named)
	}
	more := "--timeout"
	if strings.HasPrefix(r.Error, headless.Silent) {
		more = "--turn-timeout"
	}
	return fail.Errorf(fail.TimedOut, "%s; the conversation is kept", r.Error).Hint("give it more time: nbs-worker ask %s TEXT %s 1h", named, more)
}

// stoppedError returns the error of a turn that was stopped.
func stoppedError(named string, r *conversations.Result) error {
	words := r.Error
	if acted := Acted(r); acted != "" {
		words += "; " + acted
	}
	return fail.Errorf(fail.Failed, "%s; the conversation is kept", words).Hint("to see it: nbs-worker conversation history %s --tools", named)
}

// Describe returns the state of a conversation in words.
func Describe(state *conversations.State) string {
	switch {
	case state.IsUnseen():
		return fmt.Sprintf("none (session %s was imported without a transcript)", state.Session.ID)
	case state.Session.Confirmed:
		return fmt.Sprintf("goes on in session %s", state.Session.ID)
	case state.Answered == 0 || len(state.Previous) == 0:
		return "none (fresh start)"
	default:
		return "none (fresh start; before it: " + string(state.Previous[len(state.Previous)-1].ID) + ")"
	}
}
