package conversations

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

const (
	mostOpen    = 100  // turns of a key
	mostPending = 1000 // turns of all keys; those that are accepted at one time may be a few more
)

// Enqueue accepts a turn, behind all others of the key. If it returns no error, the turn is durable. An id that was
// accepted before returns that turn, with its result if it has finished and the result is still kept. The first
// turn creates the conversation, with its meta; later turns must have the same system prompt or none.
//
// Errors: Conflict when too many wait, when the id was used for another request, or when the system
// prompt is another.
func (c *Conversation) Enqueue(ctx context.Context, meta Meta, request Request) (turn Turn, result *Result, err error) {
	if err := c.make(); err != nil {
		return Turn{}, nil, err
	}
	if request.ID == "" {
		request.ID = uuid.NewString()
	}
	if request.At.IsZero() {
		request.At = time.Now().UTC()
	}
	err = c.locked(ctx, func(w *writer) error {
		turn, result, err = w.known(request.ID)
		if err != nil {
			return err
		}
		if turn.Seq != 0 {
			return c.checkSame(&request, turn.SHA)
		}
		turn, err = w.accept(meta, request)
		return err
	})
	if err != nil {
		return Turn{}, nil, err
	}
	return turn, result, nil
}

// known returns the turn of an id, with its result if it has finished. It returns no turn if the id is new.
func (w *writer) known(id string) (Turn, *Result, error) {
	if turn := w.withID(id); turn != nil {
		return *turn, nil, nil
	}
	result, there, err := w.c.resultOf(&w.State, id)
	if err != nil || !there {
		return Turn{}, nil, err
	}
	return Turn{Seq: result.Seq, ID: result.ID, SHA: result.SHA, At: result.At}, &result, nil
}

func (c *Conversation) checkSame(request *Request, sha string) error {
	if request.sum() == sha {
		return nil
	}
	return fail.Errorf(fail.Conflict, "the id %s belongs to another request", human.Quote(request.ID)).
		Hint("give each request its own id")
}

// accept writes the request, and then the line that makes it count.
func (w *writer) accept(meta Meta, request Request) (Turn, error) {
	c := w.c
	line := &Line{What: Enqueued, At: request.At, Seq: max(w.Next, 1), ID: request.ID, SHA: request.sum(), Isolated: request.Isolated}
	switch another := meta.SystemPrompt != "" && meta.SystemPrompt != w.Meta.SystemPrompt; {
	case w.IsUnused():
		line.Meta = w.founded(meta, request.At)
	case another && w.isBegun():
		return Turn{}, fail.Errorf(fail.Conflict, "the conversation has a different system prompt").
			Hint("to start a new conversation with this system prompt: nbs-worker conversation reset %s", c.named())
	case !w.isBegun():
		founded := w.Meta
		if another {
			founded.SystemPrompt, founded.Model = meta.SystemPrompt, meta.Model
		}
		if meta.Rights != (Rights{}) {
			founded.Rights = meta.Rights
		}
		if request.Fork != "" { // its agent may be in another folder by now
			founded.Cwd, founded.ConfigDir = meta.Cwd, meta.ConfigDir
		}
		if founded != w.Meta {
			line.Meta = &founded
		}
	}
	if err := w.checkRoom(); err != nil {
		return Turn{}, err
	}
	if err := c.write(pendingFolder, pendingFile(c.hash, line.Seq, 0), request); err != nil {
		return Turn{}, err
	}
	if err := w.append(line); err != nil {
		return Turn{}, err
	}
	return *w.turn(line.Seq), nil
}

// checkRoom checks that one more turn may wait, and removes the leftovers of killed writers of this key.
func (w *writer) checkRoom() error {
	c := w.c
	if len(w.State.Open) >= mostOpen {
		return fail.Errorf(fail.Conflict, "%d turns are already waiting", len(w.State.Open)).
			Hint("to see them: nbs-worker conversation queue %s", c.named())
	}
	names, err := c.nbs.List(pendingFolder)
	if err != nil {
		return err
	}
	c.nbs.Sweep(c.sub, time.Now(), func(name string, _ time.Duration) bool { return strings.HasPrefix(name, ".") })
	waiting := 0
	for _, name := range names {
		hash, seq, edits, is := pendingPlace(name)
		turn := w.State.turn(seq)
		switch {
		case is && (hash != c.hash || turn != nil && turn.Edits == edits):
			waiting++
		case is, strings.HasPrefix(name, "."+c.hash+"."):
			_ = c.nbs.Remove(pendingFolder + "/" + name)
		}
	}
	if waiting >= mostPending {
		return fail.Errorf(fail.Conflict, "%d turns of all conversations are already waiting", waiting).
			Hint("to see them: nbs-worker conversation queue")
	}
	return nil
}

// Request returns the request of an open turn. Errors: [fs.ErrNotExist] when the turn is not open; Held and Failed
// when the request was changed or damaged.
func (c *Conversation) Request(seq int) (Request, error) {
	s, err := c.State()
	if err != nil {
		return Request{}, err
	}
	turn := s.turn(seq)
	if turn == nil {
		return Request{}, fs.ErrNotExist
	}
	return c.requestOf(turn)
}

func (c *Conversation) requestOf(turn *Turn) (request Request, err error) {
	seq := turn.Seq
	name := pendingFile(c.hash, seq, turn.Edits)
	remedy := fmt.Sprintf("look at it; or give that turn up: nbs-worker conversation skip %s %d", c.named(), seq)
	err = c.read(pendingFolder, name, &request, remedy)
	if err == nil && (request.ID != turn.ID || request.sum() != turn.SHA) {
		err = errors.New("it contains another request")
	}
	if fail.KindOf(err) == fail.Unfit || err == nil {
		return request, err
	}
	if now, nowErr := c.State(); nowErr == nil {
		switch is := now.turn(seq); {
		case is == nil:
			return Request{}, fs.ErrNotExist // it has finished since the look
		case is.Edits != turn.Edits:
			return c.requestOf(is)
		}
	}
	return Request{}, c.nbs.Refused(pendingFolder+"/"+name, "", err, remedy)
}

// AwaitTurn takes the right to run turns. It waits for others, in the kernel, until the context ends.
func (c *Conversation) AwaitTurn(ctx context.Context) (unlock func(), err error) {
	if err := c.nbs.Prepare(); err != nil {
		return nil, err
	}
	return c.nbs.Await(ctx, c.hash+".turn")
}

// TryTurn takes the right to run turns; unlock is nil if another process has it.
func (c *Conversation) TryTurn() (unlock func(), err error) {
	if err := c.nbs.Prepare(); err != nil {
		return nil, err
	}
	return c.nbs.TryLock(c.hash + ".turn")
}

// Begin records an attempt at the first open turn, before anything is started. From then on an unconfirmed session
// belongs to the attempt. Errors: Conflict when another turn is first, or when the turn is held until a retry
// or was stopped.
func (c *Conversation) Begin(ctx context.Context, start Start) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		if _, err := c.openTurn(s, start.Seq); err != nil {
			return nil, err
		}
		first := &s.Open[0]
		if first.Seq != start.Seq {
			return nil, fail.Errorf(fail.Conflict, "turn %d waits for turn %d", start.Seq, first.Seq)
		}
		if first.Held != nil && first.Held.Until.IsZero() {
			return nil, fail.Errorf(fail.Conflict, "turn %d is held: %s", start.Seq, first.Held.Reason).
				Hint("to try it again: nbs-worker conversation retry %s %d", c.named(), start.Seq)
		}
		if first.Stop != nil {
			return nil, fail.Errorf(fail.Conflict, "turn %d was %s", start.Seq, first.Stop.Why)
		}
		if start.SHA != "" && start.SHA != first.SHA {
			return nil, ErrReplaced
		}
		start.Era = s.Era
		return &Line{What: Started, At: start.At, Seq: start.Seq, Start: &start}, nil
	})
}

// Confirm records the session id that Claude reported in the running attempt.
func (c *Conversation) Confirm(ctx context.Context, id agent.SessionID) error {
	return c.change(ctx, func(*State) (*Line, error) {
		return &Line{What: Confirmed, At: time.Now().UTC(), Session: id}, nil
	})
}

// Hold records why an open turn, and all turns behind it, wait.
func (c *Conversation) Hold(ctx context.Context, seq int, held Held) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		_, err := c.openTurn(s, seq)
		return &Line{What: HeldUp, At: held.At, Seq: seq, Held: &held}, err
	})
}

// Retry releases a held turn; it may be attempted as often as a new one. Errors: Conflict when it is not held.
func (c *Conversation) Retry(ctx context.Context, seq int) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		turn, err := c.openTurn(s, seq)
		if err == nil && turn.Held == nil {
			err = fail.Errorf(fail.Conflict, "turn %d is not held", seq)
		}
		return &Line{What: Retried, At: time.Now().UTC(), Seq: seq}, err
	})
}

// Skip finishes an open turn without running it; its result says so.
func (c *Conversation) Skip(ctx context.Context, seq int, why string) error {
	return c.finish(ctx, SkippedBy, Result{Seq: seq, Class: Skipped, Error: why, Reason: why, At: time.Now().UTC()})
}

// Finish records the result of an open turn: all of it or nothing. The turn's session becomes the conversation's,
// unless the turn is isolated, or began before the conversation got another session.
func (c *Conversation) Finish(ctx context.Context, result Result) error {
	return c.finish(ctx, Done, result)
}

func (c *Conversation) finish(ctx context.Context, what What, result Result) error {
	var request string
	err := c.change(ctx, func(s *State) (*Line, error) {
		turn, err := c.openTurn(s, result.Seq)
		if err != nil {
			return nil, err
		}
		request = pendingFile(c.hash, turn.Seq, turn.Edits)
		result.ID, result.SHA = turn.ID, turn.SHA
		if result.Attempts == 0 {
			result.Attempts = len(turn.Starts)
		}
		line := &Line{
			What: what, At: result.At, Seq: result.Seq, Class: result.Class, Continuity: result.Continuity,
			Session: result.SessionID, Previous: result.PreviousSessionID, Reason: result.Reason,
			CostUSD: result.CostUSD, Lingers: result.Lingers,
		}
		return line, c.write(c.sub, results+"/"+idFile(result.ID), result)
	})
	if err == nil { // what stays here is removed by checkRoom
		_ = c.nbs.Remove(pendingFolder + "/" + request)
	}
	return err
}

// openTurn returns an open turn. Errors: Conflict when it has finished; NotFound when it does not exist.
func (c *Conversation) openTurn(s *State, seq int) (*Turn, error) {
	turn := s.turn(seq)
	if turn != nil {
		return turn, nil
	}
	if 0 < seq && seq < s.Next {
		return nil, fail.Errorf(fail.Conflict, "turn %d has finished already", seq).
			Hint("to see the open turns: nbs-worker conversation queue %s", c.named())
	}
	return nil, fail.Errorf(fail.NotFound, "there is no turn %d", seq).
		Hint("to see the open turns: nbs-worker conversation queue %s", c.named())
}

// Look returns the result of the turn with an id, or nil while it is open, and the state at that time. Errors: as of
// State; NotFound when no such turn was accepted, or its result is no longer kept.
func (c *Conversation) Look(id string) (*Result, State, error) {
	s, err := c.State()
	if err != nil || s.withID(id) != nil {
		return nil, s, err
	}
	result, there, err := c.resultOf(&s, id)
	if err == nil && !there {
		err = fail.Errorf(fail.NotFound, "no turn with the id %s was accepted, or its answer is no longer kept", human.Quote(id)).
			Hint("to see the open turns: nbs-worker conversation queue %s", c.named())
	}
	return &result, s, err
}

// Result returns the result of the turn with an id. Results are kept for at least thirty days.
func (c *Conversation) Result(id string) (Result, bool, error) {
	s, err := c.State()
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, false, nil
	}
	if err != nil {
		return Result{}, false, err
	}
	return c.resultOf(&s, id)
}

// resultOf returns the result of an id. A result whose turn is still open does not count: its writer was killed
// before it wrote the line that makes it count.
func (c *Conversation) resultOf(s *State, id string) (result Result, there bool, err error) {
	remedy := "look at it, then remove it; its id is then forgotten: rm " + human.ShellWord(c.nbs.Path(c.sub, results, idFile(id)))
	err = c.read(c.sub+"/"+results, idFile(id), &result, remedy)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, false, nil
	}
	if err != nil || result.Seq >= s.Next || s.turn(result.Seq) != nil {
		return Result{}, false, err
	}
	return result, true, nil
}
