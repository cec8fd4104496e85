package message

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/slurm"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/observe"
)

// An agent that runs as a job of Slurm on another node is written to by its outbox, which is on the file system that the
// nodes share: a deliverer on its node types what waits there. If the connection to that is cut, nothing is lost and
// nothing typed twice: the next deliverer reads in the transcript what became of a text.

// Elsewhere is the error that an agent can be written to only on the node of its job.
type Elsewhere struct { //nolint:errname // it says where
	Job slurm.Job

	err error
}

func (e *Elsewhere) Error() string { return e.err.Error() }

// Unwrap returns the error with its kind and hints.
func (e *Elsewhere) Unwrap() error { return e.err }

// checkHere returns an Elsewhere for an agent that runs as a job of Slurm on another node.
func (s *Sender) checkHere(sight *observe.Sight, verb string) error {
	job := s.project.JobElsewhere(sight)
	if job == nil {
		return nil
	}
	err := fail.Errorf(fail.Held, "it runs on the node %s, and text can be typed only there", human.Word(job.Node))
	return &Elsewhere{*job, s.project.HintJob(err, &sight.Record, verb)}
}

// Told is what a deliverer on another node says of an entry.
type Told struct {
	ID      string      `json:"id"`
	State   queue.State `json:"state"` // "": delivered
	Receipt Receipt     `json:"receipt"`
	Kind    fail.Kind   `json:"kind"` // of the error
	Error   string      `json:"error,omitempty"`
	Hints   []string    `json:"hints,omitempty"`
}

// NewTold converts what became of an entry.
func NewTold(d Delivered) Told {
	t := Told{ID: d.Entry.ID, State: d.Entry.State, Receipt: d.Receipt}
	if d.Err != nil {
		t.Kind, t.Error, t.Hints = fail.KindOf(d.Err), d.Err.Error(), fail.HintsOf(d.Err)
	}
	return t
}

func (t *Told) delivered() Delivered {
	d := Delivered{Entry: queue.Entry{ID: t.ID, State: t.State}, Receipt: t.Receipt}
	if t.Error != "" {
		d.Err = &fail.Error{Kind: t.Kind, Err: errors.New(t.Error), Hints: t.Hints}
	}
	return d
}

// errUnreached means that the node of an agent was not reached, or not until the end of what was begun there.
var errUnreached = errors.New("what waits for it in its outbox is typed later")

// deliverAtNode is Deliver for an agent on another node.
func (s *Sender) deliverAtNode(ctx context.Context, job slurm.Job, handle agent.Handle, late time.Time, told func(Delivered)) error {
	limit := time.Duration(0)
	if !late.IsZero() {
		limit = max(time.Until(late), time.Second)
	}
	ended, err := s.project.AtNode(ctx, limit, job, "outbox", "deliver", string(handle), "--tell", "--limit="+limit.String())
	for line := range strings.Lines(ended.Out) {
		var t Told
		if json.Unmarshal([]byte(line), &t) == nil {
			told(t.delivered())
		}
	}
	switch {
	case fail.KindOf(err) == fail.Unfit:
		return fail.Errorf(fail.Unfit, "%w; %w", err, errUnreached)
	case err != nil:
		return err
	case ended.Code != 0:
		c := fail.ReadComplaint(ended.Code, ended.Said)
		what := strings.TrimPrefix(human.Legible(c.What), "outbox deliver "+string(handle)+": ")
		return &fail.Error{Kind: c.Kind, Err: fmt.Errorf("on the node %s: %s", human.Word(job.Node), what), Hints: c.Hints}
	}
	return nil
}

// byOutbox sends a text by the outbox of an agent on another node, and returns what is typed there. If the text cannot be
// submitted now, it is taken back.
func (s *Sender) byOutbox(ctx context.Context, receipt *Receipt, began *start, l *letter, late time.Time) (typed string, err error) {
	r, err := s.project.Store.Load(receipt.Handle)
	if err != nil {
		return "", err
	}
	file, _, err := s.transcript(&r) // no transcript before the first prompt
	if err != nil {
		return "", err
	}
	began.record, began.bytes, began.at = r, file.Size, time.Now().Truncate(time.Millisecond)
	q := s.project.Store.Outbox(r.Handle)
	e, err := q.Add(ctx, queue.Entry{From: l.from, Text: l.text, ByFile: l.byFile, Created: s.project.Seconds(), State: queue.Waiting})
	if err != nil {
		return "", err
	}
	var got *Delivered
	err = s.Deliver(ctx, r.Handle, late, func(d Delivered) {
		if d.Entry.ID == e.ID {
			got = &d
		}
	})
	if got != nil && !got.Entry.Pending() {
		*receipt, err = got.Receipt, got.Err
		receipt.Handle = r.Handle
	} else {
		if got != nil && got.Err != nil {
			err = got.Err
		}
		*receipt, err = s.takeBack(ctx, q, e, err)
	}
	typed = l.text
	if receipt.File != "" {
		typed = l.pointer(receipt.File)
	}
	if receipt.Word == Accepted && receipt.UUID == "" {
		if sent, err := s.sent(began, typed); err == nil && sent.Found {
			receipt.Word, receipt.UUID = wordOf(sent), sent.UUID
		}
	}
	if receipt.Word != Unknown {
		err = errors.Join(err, forget(ctx, q, l.again...))
	}
	return typed, err
}

// takeBack takes an entry out of the outbox, if it still waits there, and returns what became of it. One that is being
// typed it waits for. why is why no deliverer has said that; nil if none would.
func (s *Sender) takeBack(ctx context.Context, q *queue.Queue, e queue.Entry, why error) (Receipt, error) {
	const patience = 30 * time.Second
	ctx = context.WithoutCancel(ctx)
	var now queue.Entry
	err := clock.Poll(ctx, patience, func() (bool, error) {
		var err error
		now, err = q.TakeBack(ctx, e)
		return now.State != queue.Sending, err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		receipt, err := s.gone(e.Handle, e.ID)
		if receipt.Outbox != "" {
			err = fail.Errorf(fail.Held, "%s, and is typed there", receipt.Reason)
		}
		return receipt, err
	case err != nil && fail.KindOf(err) != fail.TimedOut:
		return Receipt{Handle: e.Handle, Word: Unknown, Outbox: e.ID}, fmt.Errorf("take it out of the outbox again: %w", err)
	case now.State != queue.Waiting:
		return unsettled(&now)
	case why == nil:
		why = fail.Errorf(fail.TimedOut, "another command delivers to it; nothing was submitted")
	}
	return Receipt{Handle: e.Handle, Word: Held}, unsubmitted(why)
}

// unsettled returns the receipt of an entry that a deliverer has taken up, and that is still in the outbox.
func unsettled(e *queue.Entry) (Receipt, error) {
	if e.State == queue.Failed {
		return Receipt{Handle: e.Handle, Word: Held}, fail.Errorf(fail.BadInput, "%s", e.Reason)
	}
	receipt, why := Receipt{Handle: e.Handle, Word: Unknown, Outbox: e.ID}, e.Reason
	if e.Typing != nil {
		receipt.Channel, receipt.File = e.Typing.Channel, e.Typing.File
	}
	if e.State == queue.Sending || why == "" {
		why = "it is being typed, and what becomes of it is not known yet"
	}
	return receipt, fail.Errorf(fail.TimedOut, "%s", why).Hint("to see it: nbs-worker outbox list %s", e.Handle)
}

// gone returns the receipt of an entry that is in the outbox no more.
func (s *Sender) gone(handle agent.Handle, id string) (Receipt, error) {
	receipt := Receipt{Handle: handle, Word: Held}
	if file, was := s.project.Store.Outbox(handle).WasDelivered(id); was {
		receipt.Word, receipt.Channel = Accepted, Typed
		if file != "" {
			receipt.Channel, receipt.File = ByFile, s.project.Store.Message(file)
		}
		return receipt, nil
	}
	if place := s.wentTo(handle, id); place != "" {
		receipt.Outbox, receipt.Reason = id, "it went with the agent to "+place
		return receipt, nil
	}
	if _, err := s.project.Store.Load(handle); err != nil {
		return receipt, err
	}
	return receipt, fail.Errorf(fail.NotFound, "it was removed from its outbox meanwhile, and is not known to have been typed")
}

// wentTo returns the machine to which a message went with its agent; "" if it did not.
func (s *Sender) wentTo(handle agent.Handle, id string) string {
	note := s.project.Store.Moves().Of(handle)
	if note == nil || !slices.Contains(note.Messages, id) {
		return ""
	}
	return note.Place
}

// unsubmitted returns the error of a delivery for a text that waits no more.
func unsubmitted(err error) error {
	if !errors.Is(err, errUnreached) {
		return err
	}
	return fail.Errorf(fail.Unfit, "%s; nothing was submitted", strings.TrimSuffix(err.Error(), "; "+errUnreached.Error())).
		Hint("to have it typed when that is possible: repeat the command with --queue")
}
