package message

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/observe"
)

// A text that is being typed, or whose receipt was unknown, is remembered in the agent's outbox. When the same text is
// sent again, it is searched for in the transcript, and not typed.

// remember keeps a text that is about to be typed, so that it is also known after its sender was killed. nil: it is an
// entry of the outbox, or a command, which is looked for in another way.
func (s *Sender) remember(ctx context.Context, receipt *Receipt, l *letter, attempt queue.Typing) (*queue.Entry, error) {
	if l.entry != nil || l.proof != nil {
		return nil, nil //nolint:nilnil // nothing is remembered
	}
	e, err := s.project.Store.Outbox(receipt.Handle).Add(context.WithoutCancel(ctx), queue.Entry{
		From: l.from, Text: l.text, ByFile: l.byFile, Created: s.project.Seconds(), State: queue.Unknown, Typing: &attempt,
		Reason: "the process that typed it was killed",
	})
	return &e, err
}

// settleMemory forgets a text whose receipt is known, and records why the receipt of another one is not.
func (s *Sender) settleMemory(ctx context.Context, receipt *Receipt, e *queue.Entry, why error) error {
	q := s.project.Store.Outbox(receipt.Handle)
	if e == nil {
		return nil
	}
	if receipt.Word != Unknown {
		return forget(ctx, q, *e)
	}
	e.Tries, e.Reason = 1, ""
	if why != nil {
		e.Reason = why.Error()
	}
	if err := q.Put(context.WithoutCancel(ctx), *e); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// errOvertakes means that older messages wait in the outbox and must be typed first.
var errOvertakes = fail.Errorf(fail.Held, "older messages wait in its outbox, and must be typed first").
	Hint("to queue it behind them: nbs-worker send HANDLE TEXT --queue").
	Hint("to see them: nbs-worker outbox list")

// remembered finds out what became of the same text when it was sent before. known reports that the text is
// remembered and must not be typed again.
// Errors: [errOvertakes]; TimedOut when its arrival is still unknown.
func (s *Sender) remembered(ctx context.Context, receipt *Receipt, began *start, l *letter, sight *observe.Sight) (typed string, known bool, err error) {
	q := s.project.Store.Outbox(receipt.Handle)
	all, err := q.Entries()
	if err != nil {
		return "", false, err
	}
	for _, e := range all {
		switch same := e.State == queue.Unknown && e.Text == l.text && e.Typing != nil; {
		case q.CheckSeal(&e) != nil:
		case q.IsDue(&e):
			return "", false, errOvertakes
		case same:
			typed, err = s.lookedFor(ctx, receipt, began, sight, e)
			if !l.force || receipt.Word != Unknown || fail.KindOf(err) != fail.TimedOut {
				return typed, true, err
			}
			l.again, *receipt = append(l.again, e), Receipt{Handle: receipt.Handle, Word: Held}
		}
	}
	return "", false, nil
}

// forget removes entries. An entry that is already gone is no error.
func forget(ctx context.Context, q *queue.Queue, entries ...queue.Entry) (err error) {
	for _, e := range entries {
		if failed := q.Remove(context.WithoutCancel(ctx), e); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// lookedFor completes the receipt of a remembered text from the transcript.
func (s *Sender) lookedFor(ctx context.Context, receipt *Receipt, began *start, sight *observe.Sight, e queue.Entry) (typed string, err error) {
	*began = startOf(sight.Record, &e)
	sent, err := s.sent(began, e.Typing.Typed)
	cut := e.Tries == 0 // its sender was killed, perhaps a moment ago
	if cut && err == nil && !sent.Found {
		err = clock.Poll(ctx, leftLimit, func() (over bool, err error) {
			sent, err = s.sent(began, e.Typing.Typed)
			return sent.Found, err
		})
		if fail.KindOf(err) == fail.TimedOut {
			err = nil
		}
	}
	receipt.Word, receipt.Channel, receipt.File, receipt.UUID = wordOf(sent), e.Typing.Channel, e.Typing.File, sent.UUID
	switch {
	case err != nil:
		return "", err
	case !sent.Found:
		word := map[bool]string{true: "typed by a process that was killed", false: "submitted"}[cut]
		return "", fail.Errorf(fail.TimedOut, "this very text was %s at %s, and the transcript does not contain it: it is not typed again",
			word, e.Created.Format(time.RFC3339)).
			Hint("to see what arrived: nbs-worker logs %s", receipt.Handle).
			Hint("to type it again if it did not: --force")
	}
	return e.Typing.Typed, s.project.Store.Outbox(receipt.Handle).Remove(ctx, e)
}

// wordOf returns the receipt of a text that was submitted.
func wordOf(sent transcript.Sent) Word {
	switch {
	case !sent.Found:
		return Unknown
	case sent.UUID != "":
		return Accepted
	default:
		return Queued
	}
}

// startOf returns the position of the transcript before an entry was typed. It is recorded only for unknown receipts.
func startOf(r agent.Record, e *queue.Entry) start {
	r.SessionID = e.Typing.SessionID
	at := e.Created
	if e.State == queue.Unknown {
		at = at.Add(-time.Minute)
	}
	return start{record: r, bytes: e.Typing.Bytes, at: at}
}
