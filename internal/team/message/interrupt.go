package message

import (
	"context"
	"errors"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/message/typing"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

// Outcome is the result of an interrupt.
type Outcome string

// The outcomes.
const (
	WasIdle     Outcome = "idle"        // there was no turn, and nothing was pressed
	Interrupted Outcome = "interrupted" // the turn was interrupted
	EndedItself Outcome = "ended"       // the turn ended by itself at that moment
)

// Interruption describes what an interrupt did to a turn.
type Interruption struct {
	Handle  agent.Handle
	Outcome Outcome
	Prompt  string // of a turn without an answer: Claude put it back into the box; "": it is in the transcript
	Left    bool   // the prompt stays in the box as a draft
}

// Interrupt ends the present turn of an agent, and returns when the end was observed. Queued messages go on as the
// next turn. Errors: BadInput for the caller itself; NotFound; Held at a dialog, because Escape would answer it;
// Conflict when the agent does not run; TimedOut when the turn goes on.
func (s *Sender) Interrupt(ctx context.Context, handle agent.Handle) (Interruption, error) {
	done := Interruption{Handle: handle}
	if s.supervisor.Caller.Is(handle) {
		return done, fail.Errorf(fail.BadInput, "an agent does not interrupt itself: this command runs in its own turn")
	}
	sight, unlock, err := s.lookLocked(ctx, &done.Handle, "interrupt", supervisor.Briefly)
	if err != nil {
		return done, err
	}
	defer unlock()
	if err := s.supervisor.Caller.CheckAct(&sight.Record.Spec, "interrupt"); err != nil {
		return done, err
	}
	if working, err := s.isWorking(&sight); !working || err != nil {
		done.Outcome = WasIdle
		return done, err
	}
	if err := s.checkHere(&sight, "interrupt"); err != nil {
		return done, err
	}
	if err := s.checkKey(&sight.Record, claude.KeyInterrupt); err != nil {
		return done, err
	}
	terminal, err := s.terminal(&sight)
	if err != nil {
		return done, err
	}
	file, _, err := s.transcript(&sight.Record) // no transcript before the first prompt
	if err != nil {
		return done, err
	}
	r := sight.Record
	i := interruption{
		Terminal: terminal,
		working:  func() (bool, error) { return s.isWorking(new(s.project.LookAt(ctx, r))) },
		ended: func() (transcript.TurnEnd, error) {
			now, found, err := s.transcript(&r)
			if err != nil || !found {
				return transcript.NotEnded, err
			}
			return now.TurnEnd(file.Size)
		},
		asked: func() (string, error) {
			now, found, err := s.transcript(&r)
			if err != nil || !found {
				return "", err
			}
			return now.LastAsked()
		},
		left: func(text string) error {
			q := s.project.Store.Outbox(r.Handle)
			return q.KeepLeft(q.Left(r.Process.Invocation).Typed(text, s.project.Seconds()))
		},
		note: func(forgotten string) error {
			what := "its turn"
			if forgotten != "" {
				what += "; nothing was answered yet to: " + forgotten
			}
			return s.project.Note(context.WithoutCancel(ctx), "interrupted", &r, what)
		},
	}
	return done, i.run(ctx, &done)
}

// GoOn delivers what waits for an agent whose turn was interrupted, if it is soon at its prompt. Claude runs no hook
// at the end of an interrupted turn, so the launcher does not deliver.
func (s *Sender) GoOn(ctx context.Context, handle agent.Handle) error {
	err := s.Deliver(ctx, handle, time.Now().Add(goOnLimit), func(Delivered) {})
	if err != nil {
		return fail.Errorf(fail.KindOf(err), "its turn was interrupted, and what waits in its outbox not delivered: %w", err)
	}
	return nil
}

// isWorking reports whether an agent is in a turn. Errors: those of admits; Conflict for an agent that is being
// started.
func (s *Sender) isWorking(sight *observe.Sight) (bool, error) {
	if sight.Err == nil && sight.Status.State == agent.Starting {
		return false, fail.Errorf(fail.Conflict, "the agent is just being started").
			Hint("nbs-worker wait %s --for idle,waiting", sight.Record.Handle)
	}
	return s.admits(sight)
}

// How long a working claude takes to end its turn, and then to show its prompt.
const (
	interruptLimit = 10 * time.Second
	goOnLimit      = 3 * time.Second
)

// interruption is one Escape for a working claude.
type interruption struct {
	typing.Terminal
	working func() (bool, error)               // an error: it does not run, or waits for a person
	ended   func() (transcript.TurnEnd, error) // returns how the turn ended
	asked   func() (string, error)             // returns the last prompt in the transcript
	left    func(text string) error            // remembers a prompt that stays in the box
	note    func(forgotten string) error       // journals the interrupt, and the prompt if it is stored in no other place
}

// run presses Escape once: at an idle prompt, a second Escape would open a menu. It erases the prompt of the turn
// from the box only if the prompt is stored in another place.
func (i *interruption) run(ctx context.Context, done *Interruption) error {
	before, pressed, silent := typing.Escape(ctx, i, i.working)
	if !pressed {
		done.Outcome = WasIdle
		return silent
	}
	if err := i.awaitEnd(ctx, done, hasDraft(before)); err != nil {
		return errors.Join(err, silent)
	}
	if done.Outcome != Interrupted {
		return nil
	}
	if done.Left = done.Prompt != ""; !done.Left {
		return i.note("")
	}
	isGivenBack, err := i.isGivenBack(done, before)
	if err != nil || !isGivenBack {
		return errors.Join(err, i.note(""))
	}
	if err := i.note(done.Prompt); err != nil {
		return err
	}
	if done.Left = typing.Erase(context.WithoutCancel(ctx), i, done.Prompt) != nil; done.Left {
		return i.left(done.Prompt)
	}
	return nil
}

// isGivenBack reports whether the text in the box was submitted: the transcript contains it, or the screen showed it
// as submitted. The screen may be too low for that. Otherwise it may be what a person has just begun to type.
func (i *interruption) isGivenBack(done *Interruption, before tmux.Styled) (bool, error) {
	asked, err := i.asked()
	if screen.IsMadeOf(done.Prompt, asked) {
		done.Prompt = asked
		return true, nil
	}
	return strings.Contains(screen.Dense(screen.Plain(before.Text)), "❯"+screen.Dense(done.Prompt)), err
}

func hasDraft(shown tmux.Styled) bool {
	draft, _ := screen.Draft(shown.Text)
	return draft != ""
}

// awaitEnd waits until the turn has ended. If the turn had no answer yet, the transcript does not show its end: then
// the prompt is in the box again.
func (i *interruption) awaitEnd(ctx context.Context, done *Interruption, draft bool) error {
	idle := false
	err := clock.Poll(ctx, interruptLimit, func() (bool, error) {
		end, err := i.ended()
		switch {
		case err != nil:
			return false, err
		case end == transcript.Interrupted:
			done.Outcome = Interrupted
			return true, nil
		case end == transcript.Ended:
			done.Outcome = EndedItself
			return true, nil
		}
		working, err := i.working()
		if idle = err == nil && !working; !idle || draft {
			return false, err
		}
		shown, err := i.Screen(ctx)
		if err == nil {
			done.Prompt, _ = screen.Draft(shown.Text)
		}
		return done.Prompt != "", err
	})
	switch {
	case err == nil && done.Prompt != "", idle && fail.KindOf(err) == fail.TimedOut:
		done.Outcome = Interrupted
		return nil
	case fail.KindOf(err) == fail.TimedOut:
		return fail.Errorf(fail.TimedOut, "Escape was pressed, and after %s the turn goes on", interruptLimit)
	}
	return err
}
