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

// Enqueue accepts a turn, behind all others of the key. When it returns without an error, nothing loses
// the turn. An id that was accepted before is that turn again, with its result when it has finished and
// was not forgotten. The first turn makes the conversation, with its meta; of later ones the system prompt
// must be the same or none.
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

// known returns the turn of an id, with its result when it has finished; no turn when the id is new.
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
	return fail.Errorf(fail.Conflict, "the id %s is of another request", human.Quote(request.ID)).
		Hint("give each request an id of its own")
}

// accept writes the request, and then the line by which it counts.
func (w *writer) accept(meta Meta, request Request) (Turn, error) {
	c := w.c
	line := &Line{What: Enqueued, At: request.At, Seq: max(w.Next, 1), ID: request.ID, SHA: request.sum(), Isolated: request.Isolated}
	switch another := meta.SystemPrompt != "" && meta.SystemPrompt != w.Meta.SystemPrompt; {
	case w.last == "":
		meta.Key = c.key
		if meta.Created.IsZero() {
			meta.Created = request.At
		}
		line.Meta = &meta
	case another && !w.isBegun():
		founded := w.Meta
		founded.SystemPrompt, founded.Model = meta.SystemPrompt, meta.Model
		line.Meta = &founded
	case another:
		return Turn{}, fail.Errorf(fail.Conflict, "the conversation has another system prompt").
			Hint("to begin a new conversation with this one: nbs-worker conversation reset %s", c.named())
	}
	if err := w.checkRoom(); err != nil {
		return Turn{}, err
	}
	if err := c.write(pendingFolder, pendingFile(c.hash, line.Seq), request); err != nil {
		return Turn{}, err
	}
	if err := w.append(line); err != nil {
		return Turn{}, err
	}
	return *w.turn(line.Seq), nil
}

// checkRoom checks that one more may wait, and removes what killed writers of this key have left.
func (w *writer) checkRoom() error {
	c := w.c
	if len(w.State.Open) >= mostOpen {
		return fail.Errorf(fail.Conflict, "%d turns wait already", len(w.State.Open)).
			Hint("to see them: nbs-worker conversation queue %s", c.named())
	}
	names, err := c.nbs.List(pendingFolder)
	if err != nil {
		return err
	}
	c.nbs.Sweep(c.sub, time.Now(), func(name string, _ time.Duration) bool { return strings.HasPrefix(name, ".") })
	waiting := 0
	for _, name := range names {
		hash, seq, is := pendingPlace(name)
		switch {
		case is && (hash != c.hash || w.State.turn(seq) != nil):
			waiting++
		case is, strings.HasPrefix(name, "."+c.hash+"."):
			_ = c.nbs.Remove(pendingFolder + "/" + name)
		}
	}
	if waiting >= mostPending {
		return fail.Errorf(fail.Conflict, "%d turns of all conversations wait already", waiting).
			Hint("to see them: nbs-worker conversation queue")
	}
	return nil
}

// Request is that of an open turn. Errors: [fs.ErrNotExist] when it is not open; Held and Failed when it
// is not as it was written.
func (c *Conversation) Request(seq int) (Request, error) {
	s, err := c.State()
	if err != nil {
		return Request{}, err
	}
	turn := s.turn(seq)
	if turn == nil {
		return Request{}, fs.ErrNotExist
	}
	var request Request
	name := pendingFile(c.hash, seq)
	remedy := fmt.Sprintf("look at what it is; to go on without that turn: nbs-worker conversation skip %s %d", c.named(), seq)
	err = c.read(pendingFolder, name, &request, remedy)
	if err == nil && (request.ID != turn.ID || request.sum() != turn.SHA) {
		err = errors.New("it is another request")
	}
	if fail.KindOf(err) == fail.Unfit || err == nil {
		return request, err
	}
	if now, nowErr := c.State(); nowErr == nil && now.turn(seq) == nil {
		return Request{}, fs.ErrNotExist // it has finished meanwhile
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

// TryTurn takes the right to run turns; nil when somebody else has it.
func (c *Conversation) TryTurn() (unlock func(), err error) {
	if err := c.nbs.Prepare(); err != nil {
		return nil, err
	}
	return c.nbs.TryLock(c.hash + ".turn")
}

// Begin writes down an attempt at the first open turn, before anything is started. An unconfirmed session
// is the attempt's from then on. Errors: Conflict when another turn is first, or when it is held until
// somebody retries it.
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
		start.Era = s.Era
		return &Line{What: Started, At: start.At, Seq: start.Seq, Start: &start}, nil
	})
}

// Confirm writes down the session id that Claude said in the attempt that runs.
func (c *Conversation) Confirm(ctx context.Context, id agent.SessionID) error {
	return c.change(ctx, func(*State) (*Line, error) {
		return &Line{What: Confirmed, At: time.Now().UTC(), Session: id}, nil
	})
}

// Hold writes down why an open turn, and all behind it, waits.
func (c *Conversation) Hold(ctx context.Context, seq int, held Held) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		_, err := c.openTurn(s, seq)
		return &Line{What: HeldUp, At: held.At, Seq: seq, Held: &held}, err
	})
}

// Retry lets a held turn be tried again, as often as a new one. Errors: Conflict when it is not held.
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

// Finish writes down what came of an open turn: all of it or nothing. Its session is the conversation's
// from then on, unless the turn is isolated, or began before the conversation got another session.
func (c *Conversation) Finish(ctx context.Context, result Result) error {
	return c.finish(ctx, Done, result)
}

func (c *Conversation) finish(ctx context.Context, what What, result Result) error {
	err := c.change(ctx, func(s *State) (*Line, error) {
		turn, err := c.openTurn(s, result.Seq)
		if err != nil {
			return nil, err
		}
		result.ID, result.SHA = turn.ID, turn.SHA
		if result.Attempts == 0 {
			result.Attempts = len(turn.Starts)
		}
		line := &Line{
			What: what, At: result.At, Seq: result.Seq, Class: result.Class, Continuity: result.Continuity,
			Session: result.SessionID, Previous: result.PreviousSessionID, Reason: result.Reason,
		}
		return line, c.write(c.sub, results+"/"+idFile(result.ID), result)
	})
	if err == nil { // what stays here is removed by checkRoom
		_ = c.nbs.Remove(pendingFolder + "/" + pendingFile(c.hash, result.Seq))
	}
	return err
}

// openTurn is an open turn. Errors: Conflict when it has finished; NotFound when there was none.
func (c *Conversation) openTurn(s *State, seq int) (*Turn, error) {
	turn := s.turn(seq)
	if turn != nil {
		return turn, nil
	}
	if 0 < seq && seq < s.Next {
		return nil, fail.Errorf(fail.Conflict, "turn %d has finished already", seq).
			Hint("what is open: nbs-worker conversation queue %s", c.named())
	}
	return nil, fail.Errorf(fail.NotFound, "there is no turn %d", seq).
		Hint("what is open: nbs-worker conversation queue %s", c.named())
}

// Look returns the result of the turn with an id, nil while it is open, and the state in which it is so. Errors: as of
// State; NotFound when no such turn was accepted, or its answer is forgotten.
func (c *Conversation) Look(id string) (*Result, State, error) {
	s, err := c.State()
	if err != nil || s.withID(id) != nil {
		return nil, s, err
	}
	result, there, err := c.resultOf(&s, id)
	if err == nil && !there {
		err = fail.Errorf(fail.NotFound, "no turn with the id %s was accepted, or its answer is forgotten", human.Quote(id)).
			Hint("to see what waits: nbs-worker conversation queue %s", c.named())
	}
	return &result, s, err
}

// Result is what came of the turn with an id, for as long as it is kept: thirty days at least.
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

// resultOf is the result of an id. One whose turn is still open does not count: its writer was killed before
// the line that makes it count.
func (c *Conversation) resultOf(s *State, id string) (result Result, there bool, err error) {
	remedy := "look at what it is, then remove it, with which its id is forgotten: rm " + human.ShellWord(c.nbs.Path(c.sub, results, idFile(id)))
	err = c.read(c.sub+"/"+results, idFile(id), &result, remedy)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, false, nil
	}
	if err != nil || result.Seq >= s.Next || s.turn(result.Seq) != nil {
		return Result{}, false, err
	}
	return result, true, nil
}
