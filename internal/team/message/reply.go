package message

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/team/wait"
)

// await waits until an agent is in one of the states.
func (s *Sender) await(ctx context.Context, handle agent.Handle, late time.Time, states ...string) error {
	wanted := wait.Wanted{Handles: []agent.Handle{handle}}
	for _, state := range states {
		condition, err := wait.ParseCondition(state)
		if err != nil {
			return err
		}
		wanted.For = append(wanted.For, condition)
	}
	if !late.IsZero() {
		if wanted.Timeout = time.Until(late); wanted.Timeout <= 0 {
			return fail.Errorf(fail.TimedOut, "it is still working")
		}
	}
	_, err := wait.For(ctx, s.supervisor.Inspector, wanted)
	return err
}

// endLimit is how long to wait for the transcript to contain the end of a turn that is over.
const endLimit = 5 * time.Second

// answer waits for the end of the turn that a message began, and returns the agent's last words in it. Errors: Failed
// for a turn without an answer; TimedOut; those of the wait.
func (s *Sender) answer(ctx context.Context, began *start, receipt *Receipt, text string, limit time.Duration) (string, error) {
	var answer transcript.Answer
	err := s.awaitEnd(ctx, receipt.Handle, limit, func() (ended bool, err error) {
		answer, err = s.answered(began, receipt, text)
		return answer.Ended, err
	})
	switch {
	case err != nil:
		return "", err
	case answer.Interrupted:
		return answer.Text, fail.Errorf(fail.Failed, "a person interrupted the turn")
	case answer.Failure != "":
		return "", fail.Errorf(fail.Failed, "the turn failed: %s", human.Quote(answer.Text)).
			Hint("nbs-worker session %s", receipt.Handle)
	}
	return answer.Text, nil
}

// awaitEnd waits until the transcript has the end of the agent's present turn. Errors: TimedOut; Held when the agent
// waits for a person; those of the wait.
func (s *Sender) awaitEnd(ctx context.Context, handle agent.Handle, limit time.Duration, ended func() (bool, error)) error {
	late := deadline(limit)
	for {
		if over, err := ended(); over || err != nil {
			return err
		}
		if err := s.await(ctx, handle, late, "ready", string(agent.Waiting)); err != nil {
			return err
		}
		if r, err := s.project.Store.Load(handle); err == nil {
			if sight := s.project.LookAt(ctx, r); sight.Status.State == agent.Waiting {
				_, err := s.admits(&sight)
				return err
			}
		}
		err := clock.Poll(ctx, endLimit, func() (bool, error) {
			over, err := ended()
			return over || s.atWork(ctx, handle), err
		})
		if fail.KindOf(err) == fail.TimedOut {
			return errNoEnd
		}
		if err != nil {
			return err
		}
	}
}

// errNoEnd means that an agent is at its prompt and the transcript does not contain the end of its turn.
var errNoEnd = fail.Errorf(fail.TimedOut, "the end of the turn is not in the transcript")

// answered reads the turn of a message. The message may have been queued until now.
func (s *Sender) answered(began *start, receipt *Receipt, text string) (transcript.Answer, error) {
	if receipt.UUID == "" {
		sent, err := s.sent(began, text)
		if err != nil || sent.UUID == "" {
			return transcript.Answer{}, err
		}
		receipt.UUID, receipt.Word = sent.UUID, Accepted
	}
	file, found, err := s.transcript(&began.record)
	if err != nil || !found {
		return transcript.Answer{}, err
	}
	return file.Answer(began.bytes, receipt.UUID)
}

// atWork reports whether an agent is in a turn.
func (s *Sender) atWork(ctx context.Context, handle agent.Handle) bool {
	r, err := s.project.Store.Load(handle)
	if err != nil {
		return false
	}
	again, err := s.admits(new(s.project.LookAt(ctx, r)))
	return again && err == nil
}

// Until returns the end of a time that begins now; zero for 0, which means no limit.
func Until(limit time.Duration) time.Time { return deadline(limit) }

func deadline(limit time.Duration) time.Time {
	if limit == 0 {
		return time.Time{}
	}
	return time.Now().Add(limit)
}
