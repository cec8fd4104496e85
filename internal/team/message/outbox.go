package message

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/message/typing"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

// entry is an entry of an agent's outbox that is being delivered.
type entry struct {
	queue.Entry
	queue *queue.Queue
}

// begin records that an entry is about to be typed. It does nothing for nil, a text that is not from the outbox.
func (e *entry) begin(ctx context.Context, attempt queue.Typing) error {
	if e == nil {
		return nil
	}
	e.State, e.Typing = queue.Sending, &attempt
	return e.queue.Put(ctx, e.Entry)
}

// Delivered is the result of delivering an entry of an outbox.
type Delivered struct {
	Entry   queue.Entry
	Receipt Receipt
	Err     error
}

// lineUp puts a text into the agent's outbox, and delivers what can be delivered now.
func (s *Sender) lineUp(ctx context.Context, handle agent.Handle, l letter) (Receipt, error) {
	receipt := Receipt{Handle: handle, Word: Held}
	r, err := s.project.Store.Load(handle)
	if err != nil {
		return receipt, err
	}
	receipt.Handle = r.Handle
	e, err := s.project.Store.Outbox(r.Handle).Add(ctx, queue.Entry{From: l.from, Text: l.text, ByFile: l.byFile, Created: s.project.Seconds(), State: queue.Waiting})
	if err != nil {
		return receipt, err
	}
	return s.deliverNow(ctx, &r, e)
}

// deliverNow delivers what can be delivered now from an agent's outbox, and returns the result of one entry. It wakes
// the launcher for what has to wait.
func (s *Sender) deliverNow(ctx context.Context, r *agent.Record, e queue.Entry) (Receipt, error) {
	receipt := Receipt{Handle: r.Handle, Word: Held, Outbox: e.ID}
	var failed error
	err := s.Deliver(ctx, r.Handle, time.Now(), func(d Delivered) {
		switch {
		case d.Entry.ID == e.ID && (d.Receipt.Word != Held || !d.Entry.Pending()):
			receipt, failed = d.Receipt, d.Err
		case d.Err != nil: // its own error, or the error of one before it
			receipt.Reason = d.Err.Error()
		}
	})
	if err != nil {
		receipt.Reason = err.Error()
	}
	if errors.Is(err, errUnreached) {
		err = nil
	}
	if receipt.Outbox == "" {
		receipt.Reason = ""
		return receipt, errors.Join(err, failed)
	}
	receipt.Reason = cmp.Or(receipt.Reason, "another command delivers what waits for the agent")
	q := s.project.Store.Outbox(r.Handle)
	all, unread := q.Entries()
	i := slices.IndexFunc(all, func(now queue.Entry) bool { return now.ID == e.ID })
	switch {
	case i < 0 && unread == nil:
		return s.gone(r.Handle, e.ID)
	case i >= 0 && !all[i].Pending():
		return unsettled(&all[i])
	}
	if _, gone := s.project.Store.Load(r.Handle); fail.KindOf(gone) == fail.NotFound && s.wentTo(r.Handle, e.ID) == "" { // or the next agent of that name would get it
		return Receipt{Handle: r.Handle, Word: Held}, errors.Join(gone, forget(ctx, q, e))
	}
	if r.Process != nil {
		observe.Wake(s.project.Machine, r)
		if r.Process.Adopted != nil {
			receipt.Reason += "; it was adopted and has no launcher yet: the next send types it, or the agent's next resume"
		}
	}
	if ctx.Err() != nil && (err == nil || fail.KindOf(err) == fail.Interrupted) {
		err = fail.Errorf(fail.Interrupted, "interrupted; the message waits in the outbox")
	}
	return receipt, err
}

// Deliver types the messages in an agent's outbox in order while the agent takes them, and calls told with each
// entry. It waits until late for a working agent, and for another deliverer: that one may have read the outbox before
// the entry for this call was added.
func (s *Sender) Deliver(ctx context.Context, handle agent.Handle, late time.Time, told func(Delivered)) error {
	if job := s.project.JobElsewhereOf(ctx, handle); job != nil {
		return s.deliverAtNode(ctx, *job, handle, late, told)
	}
	q := s.project.Store.Outbox(handle)
	for {
		unlock, err := q.AwaitTurn(ctx, late)
		if unlock == nil {
			return err
		}
		newest := q.Newest()
		err = s.drain(ctx, q, handle, late, told)
		unlock()
		if err != nil || q.Newest() == newest { // otherwise newer entries would wait for a deliverer that has left
			return err
		}
	}
}

func (s *Sender) drain(ctx context.Context, q *queue.Queue, handle agent.Handle, late time.Time, told func(Delivered)) error {
	for {
		e, err := next(q)
		if e == nil || err != nil {
			return err
		}
		receipt := Receipt{Handle: handle, Word: Held}
		if e.State == queue.Sending {
			err = s.settleLeft(ctx, &receipt, e, late)
		} else {
			err = s.deliverPatiently(ctx, &receipt, e, late)
		}
		told(Delivered{Entry: e.Entry, Receipt: receipt, Err: err})
		if e.Pending() {
			return nil
		}
	}
}

// next returns the first allowed entry that is still to be delivered; nil if there is no such entry.
func next(q *queue.Queue) (*entry, error) {
	all, err := q.Entries()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if q.IsDue(&e) {
			return &entry{Entry: e, queue: q}, nil
		}
	}
	return nil, nil //nolint:nilnil // nothing waits
}

// undrawnPause is the pause before an undrawn text is typed again. Each pause is twice as long as the one before.
const undrawnPause = time.Second

// deliverPatiently calls deliver again until late if claude did not draw what was typed and the box is empty again. A
// send that waits behind the entry would otherwise give up on a busy machine.
func (s *Sender) deliverPatiently(ctx context.Context, receipt *Receipt, e *entry, late time.Time) error {
	for pause := undrawnPause; ; pause *= 2 {
		err := s.deliver(ctx, receipt, e, late)
		if !errors.Is(err, typing.ErrUndrawn) || !e.Pending() || time.Now().Add(pause).After(late) {
			return err
		}
		if clock.Sleep(ctx, pause) != nil {
			return err
		}
	}
}

// deliver types an entry when the agent is ready, and records the result.
func (s *Sender) deliver(ctx context.Context, receipt *Receipt, e *entry, late time.Time) error {
	for {
		_, again, err := s.once(ctx, receipt, &start{}, letter{from: e.From, text: e.Text, byFile: e.ByFile, entry: e}, late)
		if !again {
			return errors.Join(err, e.settle(context.WithoutCancel(ctx), receipt.Word, err))
		}
		if err := s.await(ctx, receipt.Handle, late, "ready", string(agent.Waiting)); err != nil {
			return err
		}
	}
}

// settle records the result of an entry. An entry that was dropped in between needs no result. If it cannot be
// recorded, the entry and all later ones stay unchanged: the next deliverer checks the transcript.
func (e *entry) settle(ctx context.Context, word Word, why error) (err error) {
	before := e.Entry
	if why != nil {
		e.Reason = why.Error()
	}
	switch {
	case word == Accepted, word == Queued:
		e.State, err = "", e.queue.Deliver(ctx, e.Entry)
	case word == Unknown:
		e.Tries, e.State = e.Tries+1, queue.Unknown
		err = e.queue.Put(ctx, e.Entry)
	case fail.KindOf(why) == fail.BadInput:
		e.Tries, e.State, e.Typing = e.Tries+1, queue.Failed, nil
		err = e.queue.Put(ctx, e.Entry)
	default:
		e.Tries, e.State, e.Typing = e.Tries+1, queue.Waiting, nil
		err = e.queue.Put(ctx, e.Entry)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.State, err = "", nil
	case err != nil:
		e.Entry = before
	}
	return err
}

// leftLimit is how long to wait for the transcript to contain a text whose deliverer was killed after submitting.
const leftLimit = 3 * time.Second

// settleLeft finds out from the transcript what became of an entry whose deliverer was killed. It deletes what is
// left of the text in the box.
func (s *Sender) settleLeft(ctx context.Context, receipt *Receipt, e *entry, late time.Time) error {
	sight, unlock, err := s.lookLocked(ctx, &receipt.Handle, "outbox", supervisor.Until(late))
	if err != nil {
		return err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx)
	began := startOf(sight.Record, &e.Entry)
	var sent transcript.Sent
	err = clock.Poll(ctx, leftLimit, func() (bool, error) {
		sent, err = s.sent(&began, e.Typing.Typed)
		return sent.Found, err
	})
	if err != nil && fail.KindOf(err) != fail.TimedOut {
		return err
	}
	receipt.Word, receipt.Channel, receipt.File, receipt.UUID = wordOf(sent), e.Typing.Channel, e.Typing.File, sent.UUID
	var why error
	if !sent.Found {
		why = fail.Errorf(fail.TimedOut, "the process that typed it was killed, and the transcript does not contain it")
		s.eraseLeft(ctx, &sight, e.Typing.Typed)
	}
	noted := s.project.Note(ctx, "sent", &sight.Record, fmt.Sprintf("%s (%s) %s", receipt.Word, receipt.Channel, receipt.UUID))
	return errors.Join(why, noted, e.settle(ctx, receipt.Word, why))
}

// eraseLeft deletes a text that a killed deliverer left in the box, if it is unchanged. If that fails, the draft
// holds the next message, whose error says so.
func (s *Sender) eraseLeft(ctx context.Context, sight *observe.Sight, text string) {
	terminal, err := s.terminal(sight)
	if err != nil {
		return
	}
	shown, err := terminal.Screen(ctx)
	if err != nil {
		return
	}
	if draft, _ := screen.Draft(shown.Text); isBeginning(draft, text) {
		_ = typing.Erase(ctx, terminal, text)
	}
}

// isBeginning reports whether a draft is a beginning of a text: interrupted typing or deleting leaves such a draft. A
// draft with some of the text's characters in order is not enough: it may be a person's.
func isBeginning(draft, text string) bool {
	return draft != "" && strings.HasPrefix(screen.Dense(text), screen.Dense(draft))
}
