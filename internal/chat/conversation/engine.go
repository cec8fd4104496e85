// Package conversation holds keyed headless chats: one conversation per key, one turn at a time, in the order in
// which the texts were accepted.
//
//   - An accepted text is durable. The process that holds a key's turn lock runs the oldest open turn, even one that
//     another caller asked for. So a caller that dies loses nothing, and the order does not depend on a fair lock.
//   - An attempt is on disk before claude is started. If its end is not recorded, the turn's mark is looked up in the
//     transcript before the text is sent again. So the transcript contains a text once.
//   - An answer is reported once the transcript contains it, or a wait for that has timed out. Killing claude after
//     that loses nothing.
//   - A failed turn does not lose the conversation. A conversation is replaced only if it is gone and cannot be
//     restored, at most once, and only on request. The answer says so.
//   - The process that runs a claude holds the lease on its conversation while that claude lives.
//   - A prompt is only the user's text. A hook adds context and mark.
//
// So a text is sent effectively once. Its side effects happen at most once, unless the user decides otherwise
// (--on-unknown).
package conversation

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/observe"
)

// Engine runs the conversations of one project.
type Engine struct {
	Project *observe.Project

	// Warm keeps processes for the next turn. nil: each turn starts its own process.
	Warm *headless.Pool

	// Heard is called with the turn's key and id and what claude does, as it does it; nil: not called.
	Heard func(key conversations.Key, id string, p Progress)

	// Over is called with the result of each turn that this engine has finished; nil: not called.
	Over func(conversations.Result)

	// IsChat reports whether a bridge serves the conversation, so that its chat may be told something; nil: no bridge.
	IsChat func(conversations.Key) bool

	// Added is called when something that came unasked is recorded: words that Claude said by itself, or a notice; nil: not
	// called.
	Added func(conversations.Key)

	// Hastened is called when turns of other conversations may be tried now, because the cause that held them has ended; nil:
	// not called.
	Hastened func()

	Memories Memories // nil: nothing is remembered

	Start func(turn.Launch) (headless.Process, error) // a real claude, except in tests

	waits     sync.Map // the [wait]s of its callers
	voices    sync.Map // the [voice] of each running claude, by its invocation
	lingering sync.Map // by the id of a turn: a channel that is closed when its claude has exited
	staying   sync.Map // by its invocation: the [headless.Session] that has answered, and that Warm is about to get

	dying time.Duration // how long a killed runner may still hold its locks
}

// Progress is what claude does in the middle of a turn: it writes a further part of its answer, or uses a tool.
type Progress struct {
	Text string // the part, or what the tool is used for
	Tool string // "" for a part of the answer
}

// TurnTimeout is how long claude may be silent in a turn by default: give no sign of life while no tool runs. Without a
// limit a hanging claude would block its key forever.
const TurnTimeout = 10 * time.Minute

// New creates the engine of a project.
func New(project *observe.Project) *Engine {
	return &Engine{Project: project, Start: headless.Start, dying: dyingGrace}
}

// Say is a text for a conversation, and the options for its answer.
type Say struct {
	conversations.Request
	Meta conversations.Meta // used when the conversation does not exist yet
}

// checkTexts refuses invalid text: JSON would change it, which damages the turn and all later ones.
func (s *Say) checkTexts() error {
	return errors.Join(
		agent.CheckText("the text", s.Text), agent.CheckText("the system prompt", s.SystemPrompt+s.Meta.SystemPrompt),
		agent.CheckText("the id", s.ID), agent.CheckText("--context-cmd", s.ContextCmd), agent.CheckText("the context", s.Context), agent.CheckText("the folder", s.Meta.Cwd+s.Meta.ConfigDir),
	)
}

// Accept makes a text durable and queues it. result is the earlier answer to the same id, or nil. Errors: BadInput;
// Conflict when the queue is full, the id has another text or the system prompt differs; Held when Claude does not
// trust the folder, or the folder is not that of the asking agent.
func (e *Engine) Accept(ctx context.Context, key conversations.Key, say Say) (t conversations.Turn, result *conversations.Result, err error) {
	if strings.TrimSpace(say.Text) == "" { // the API refuses an empty text and all later texts of that conversation
		return t, nil, fail.Errorf(fail.BadInput, "the text is empty")
	}
	if err := say.checkTexts(); err != nil {
		return t, nil, err
	}
	if say.Command {
		if err := claude.CheckCommand(say.Text); err != nil {
			return t, nil, err
		}
	}
	c := e.Project.Store.Conversations().Of(key)
	if err := errors.Join(e.checkOther(c), e.checkFolder(c, &say)); err != nil {
		return t, nil, err
	}
	t, result, err = c.Enqueue(ctx, say.Meta, say.Request)
	if err == nil && result == nil {
		_ = e.hasten(ctx, c, mayMend) // the text is durable: a held turn before it is then tried at its time
	}
	return t, result, err
}

// checkOther refuses a text from the conversation's own running turn: it would wait for itself. Errors: BadInput.
func (e *Engine) checkOther(c *conversations.Conversation) error {
	within := agent.Invocation(e.Project.Variable(agent.TurnVariable))
	if within == "" {
		return nil
	}
	state, err := c.State()
	if err != nil || len(state.Open) == 0 {
		return nil //nolint:nilerr // the error is reported when the conversation is opened
	}
	if starts := state.Open[0].Starts; len(starts) == 0 || starts[len(starts)-1].Invocation != within {
		return nil
	}
	return fail.Errorf(fail.BadInput, "a turn cannot ask its own conversation: it would wait for itself").
		Hint("ask another conversation: nbs-worker ask OTHER-KEY TEXT")
}

// Await returns the result of the turn with this id. It runs the open turns up to it, unless other callers do.
// Errors: Held when a turn up to this one waits for a person, or for longer than patience; NotFound when the id was
// never accepted; those of the context, after which the turn is still open.
func (e *Engine) Await(ctx context.Context, key conversations.Key, id string) (conversations.Result, error) {
	c := e.Project.Store.Conversations().Of(key)
	for {
		result, _, err := c.Look(id)
		if err != nil {
			return conversations.Result{}, err
		}
		if result != nil {
			return e.Whole(ctx, key, result), nil
		}
		until, err := e.advance(ctx, c, id)
		if err != nil {
			return conversations.Result{}, err
		}
		if wait := until.Sub(e.Project.Now()); wait > patience {
			return conversations.Result{}, errLater(c, until)
		}
		if until.IsZero() { // the turn may be answered although the context has ended
			continue
		}
		if err := clock.Sleep(ctx, until.Sub(e.Project.Now())); err != nil {
			return conversations.Result{}, err
		}
	}
}

// patience is how long Await waits for the next attempt at a held turn.
const patience = time.Minute

// errLater returns an error that states when the turn is tried again.
func errLater(c *conversations.Conversation, until time.Time) error {
	state, err := c.State()
	held := state.Held()
	if err != nil || held == nil {
		return errors.Join(err, fail.Errorf(fail.Held, "it is tried again at %s", until.Format(time.RFC3339)))
	}
	later := fail.Errorf(fail.Held, "%s; it is kept, and can be tried again at %s", held.Reason, until.Format(time.RFC3339))
	if turn.Class(held.Class) == turn.Authentication {
		later = later.Hint("to log in: start claude once by hand, and type /login: claude")
	}
	key := human.ShellWord(string(state.Meta.Key))
	return later.Hint("nbs-worker serve tries it then, and so does the next nbs-worker ask").
		Hint("or now: nbs-worker conversation retry %s", key)
}

// Drain runs the open turns of a conversation until one is held. until is when that turn is tried again. Errors: Held
// when it waits for a person, or for a cause that may end by itself.
func (e *Engine) Drain(ctx context.Context, key conversations.Key) (until time.Time, err error) {
	c := e.Project.Store.Conversations().Of(key)
	until, err = e.advance(ctx, c, "")
	if err == nil && !until.IsZero() {
		err = errMends(c)
	}
	return until, err
}

// advance runs open turns in order until the one with the id is done, or all are done. until is when the first
// waiting turn is tried again.
func (e *Engine) advance(ctx context.Context, c *conversations.Conversation, id string) (until time.Time, err error) {
	unlock, err := e.awaitTurn(ctx, c, id)
	if unlock == nil {
		return time.Time{}, err
	}
	var watches sync.WaitGroup
	defer watches.Wait()
	defer unlock()
	for {
		state, err := c.State()
		if err != nil {
			return time.Time{}, err
		}
		if len(state.Open) == 0 {
			return time.Time{}, nil
		}
		head := state.Open[0]
		if head.Stop != nil {
			if err := e.endStopped(ctx, c); err != nil {
				return time.Time{}, err
			}
			if head.ID == id {
				return time.Time{}, nil
			}
			continue
		}
		if held := head.Held; held != nil {
			if held.Until.IsZero() {
				return time.Time{}, errHeld(state.Meta.Key, &head, id)
			}
			if held.Until.After(e.Project.Now()) {
				return held.Until, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return time.Time{}, err
		}
		if err := e.run(ctx, c, &state, &head, &watches); err != nil && (ctx.Err() != nil || stopOf(c, head.Seq) == nil) {
			return time.Time{}, err
		}
		if head.ID == id {
			return time.Time{}, nil
		}
	}
}

// ErrDeadLetter is in the error of a turn that waits for a person. The journal records that wait as well.
var ErrDeadLetter = errors.New("waits for a person")

// errHeld returns the error for awaiting the turn with this id ("": any) while the first open turn waits for a person.
func errHeld(key conversations.Key, head *conversations.Turn, id string) error {
	what := "the turn"
	if id != "" && head.ID != id {
		what = "a turn before it"
	}
	return fail.Errorf(fail.Held, "%s, number %d, %w: %s", what, head.Seq, ErrDeadLetter, head.Held.Reason).
		Hint("try it again: nbs-worker conversation retry %s", human.ShellWord(string(key))).
		Hint("or give it up: nbs-worker conversation skip %s", human.ShellWord(string(key)))
}

// keeper restores transcripts.
func (e *Engine) keeper() *keep.Keeper { return &keep.Keeper{Project: e.Project} }

// Reset ends a key's session: its id becomes a previous one, and the next turn begins a new session. Open turns stay
// open. change, which may be nil, changes the meta that counts then. Errors: NotFound; those of change.
func (e *Engine) Reset(ctx context.Context, key conversations.Key, reason string, change func(*conversations.Meta) error) (conversations.Previous, error) {
	c := e.Project.Store.Conversations().Of(key)
	unlock, err := e.awaitTurn(ctx, c, "") // not while a turn runs
	if err != nil {
		return conversations.Previous{}, err
	}
	defer unlock()
	e.Warm.Drop(ctx, key)
	previous, err := c.Reset(ctx, reason, change)
	if errors.Is(err, os.ErrNotExist) {
		return previous, ErrNone(key)
	}
	return previous, err
}

// ResetUnused resets a conversation that was not used since a time. The next answer states the reason. It does not
// wait: a conversation with a running turn is in use. done reports whether it was reset.
func (e *Engine) ResetUnused(ctx context.Context, key conversations.Key, reason string, since time.Time) (done bool, err error) {
	c := e.Project.Store.Conversations().Of(key)
	unlock, err := c.TryTurn()
	if unlock == nil {
		return false, err
	}
	defer unlock()
	if done, err = c.ResetUnused(ctx, reason, since); done {
		e.Warm.Drop(ctx, key)
	}
	return done, err
}

// ErrNone returns the error for a key without a conversation.
func ErrNone(key conversations.Key) error {
	return fail.Errorf(fail.NotFound, "there is no conversation %s", human.Quote(string(key))).
		Hint("to see them: nbs-worker conversation list").
		Hint("to begin it: nbs-worker ask %s TEXT", human.ShellWord(string(key)))
}
