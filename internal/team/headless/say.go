package headless

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/machine"
)

// Limits bound a turn.
type Limits struct {
	Whole   time.Duration   // of the turn; 0: without
	Silence time.Duration   // since claude's last sign of life, while no tool runs; 0: without
	Stop    <-chan struct{} // closed when a person or program stops the turn; nil: never
}

// Silent is the beginning of the error of a turn in which claude was silent for too long.
const Silent = "claude was silent"

// ErrStopped is the error of a turn that was stopped.
var ErrStopped = errors.New("the turn was stopped")

// Say sends a text, and waits for the end of the turn. The outcome of a turn that a limit ends is what claude said of
// it until then. Errors: TimedOut; [ErrStopped]; those of the context; those of [turn.Process.Turn].
func (s *Session) Say(ctx context.Context, limits Limits, id, text string, heard func(turn.Event), images ...turn.Image) (turn.Outcome, error) {
	return s.within(ctx, limits, heard, func(ctx context.Context, heard func(turn.Event)) (turn.Outcome, error) {
		return s.Turn(ctx, id, text, heard, images...)
	})
}

// SayCommand has claude run one of its commands, as Say sends a text.
func (s *Session) SayCommand(ctx context.Context, limits Limits, id, command string, heard func(turn.Event)) (turn.Outcome, error) {
	return s.within(ctx, limits, heard, func(ctx context.Context, heard func(turn.Event)) (turn.Outcome, error) {
		return s.Command(ctx, id, command, heard)
	})
}

// within runs a turn within the limits.
func (s *Session) within(ctx context.Context, limits Limits, heard func(turn.Event), run func(context.Context, func(turn.Event)) (turn.Outcome, error)) (turn.Outcome, error) {
	activity := turn.NewActivity()
	waiting, end := context.WithCancel(ctx)
	defer end()
	ended := make(chan error, 1)
	go func() {
		why := limits.await(waiting, activity)
		if why != nil {
			s.interrupt(waiting)
			end()
		}
		ended <- why
	}()
	outcome, err := run(waiting, func(e turn.Event) {
		activity.Note(e)
		if heard != nil {
			heard(e)
		}
	})
	end()
	why := <-ended
	outcome.Acted = activity.Acted()
	switch isAnswered := outcome.Class == turn.Answered; {
	case err == nil && (why == nil || isAnswered):
		return outcome, nil // also if the caller gives up now: claude is still writing its transcript
	case why != nil && isAnswered && errors.Is(err, context.Canceled):
		return outcome, nil // it came in that moment
	case ctx.Err() != nil:
		return outcome, ctx.Err()
	case why != nil:
		return outcome, why
	}
	return outcome, err
}

// await waits until the turn exceeds a limit, and returns which; nil if the context ends first.
func (l *Limits) await(ctx context.Context, activity *turn.Activity) error {
	begun := time.Now()
	for {
		now := time.Now()
		silence, whole := time.Duration(1<<62), time.Duration(1<<62)
		if l.Silence > 0 {
			silence = activity.SilentSince().Add(l.Silence).Sub(now)
		}
		if l.Whole > 0 {
			whole = begun.Add(l.Whole).Sub(now)
		}
		switch {
		case whole <= 0:
			return fail.Errorf(fail.TimedOut, "no answer within %s%s", l.Whole, refusedWords(activity.Refusals()))
		case silence <= 0:
			return fail.Errorf(fail.TimedOut, "%s for %s%s", Silent, l.Silence, refusedWords(activity.Refusals()))
		}
		next := time.NewTimer(min(silence, whole))
		select {
		case <-l.Stop:
			next.Stop()
			return ErrStopped
		case <-ctx.Done():
			next.Stop()
			return nil
		case <-next.C:
		}
	}
}

// refusedWords says that claude waits for the API; "" if it does not.
func refusedWords(r turn.Refusals) string {
	switch {
	case r.Count == 0:
		return ""
	case r.Status == 0:
		return ": the API did not answer " + human.Count(r.Count, "request")
	case r.Count == 1:
		return fmt.Sprintf(": the API refused it (%d)", r.Status)
	}
	return fmt.Sprintf(": the API refused it %d times (%d)", r.Count, r.Status)
}

// interruptGrace is how long a claude may take to give a turn up.
const interruptGrace = 3 * time.Second

// interrupt asks the claude to give the turn up, and waits until it has, or the grace is over. The context ends with
// the turn.
func (s *Session) interrupt(ctx context.Context) {
	if interruptClaude(s.machine, s.Invocation) {
		_ = clock.Sleep(ctx, interruptGrace)
	}
}

// interruptClaude sends INT to a claude, which then writes into its transcript that the turn was interrupted. After
// another end of it, the model could go on with the text of that turn in the next one, as it can after 2.1.197, which
// may exit before it has written that. It reports whether a claude was there.
func interruptClaude(m *machine.Machine, invocation agent.Invocation) (there bool) {
	highest, err := highestOfTurn(m, invocation)
	if err != nil {
		return false
	}
	for _, id := range highest {
		if opened, liveness, err := m.Open(id); err == nil && liveness == machine.Alive {
			there = opened.Signal(syscall.SIGINT) == nil || there
			_ = opened.Close()
		}
	}
	return there
}
