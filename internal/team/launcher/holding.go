package launcher

import (
	"context"
	"os"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// holding keeps others out of an agent's conversation: within this project by the lease, against other projects by a
// lock on the transcript. It follows the agent to another conversation.
type holding struct {
	launcher *Launcher
	config   claude.Config
	handle   agent.Handle
	start    agent.Invocation

	mu     sync.Mutex
	id     agent.SessionID // the held conversation
	denied agent.SessionID // the conversation that could not be taken, according to the journal; "": none was denied
	letGo  func()
	locked bool        // the transcript is locked too; it does not exist before the first prompt
	again  *time.Timer // looks again for an expected move; nil: no move is expected
}

// hold takes the record's conversation for a start.
func (l *Launcher) hold(record *agent.Record, launch store.Launch) (*holding, error) {
	config, err := claude.ConfigOf(&record.Spec, launch.Env)
	if err != nil {
		return nil, err
	}
	h := &holding{launcher: l, config: config, handle: record.Handle, start: launch.Invocation, id: record.SessionID}
	h.letGo, h.locked, err = h.take(record)
	return h, err
}

// take takes the lease of a conversation and locks its transcript, if there is one yet.
func (h *holding) take(record *agent.Record) (letGo func(), locked bool, err error) {
	id := record.SessionID
	self := store.Holder{PID: os.Getpid(), Verb: "run", Handle: h.handle, Since: stamp(h.launcher.Now())}
	endLease, err := h.launcher.Store.AcquireLease(id, self)
	if err != nil {
		return nil, false, err
	}
	release, locked, err := h.config.Hold(id)
	switch {
	case err == nil:
		return func() { release(); endLease() }, locked, nil
	case record.TranscriptSeen.IsZero() && fail.KindOf(err) != fail.Conflict:
		return endLease, false, nil // a fault beside the transcripts does not keep a new conversation down
	default:
		endLease()
		return nil, false, err
	}
}

// follow takes the conversation to which the record has moved, then releases the one before. If another process holds
// the new conversation, that is journalled once: the agent uses it anyway, and each of its turns causes another
// attempt.
func (h *holding) follow(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	record, err := h.launcher.Store.Load(h.handle)
	if err != nil || h.letGo == nil || checkCurrent(&record, h.start) != nil {
		return
	}
	h.moveRecord(ctx, &record)
	if record.SessionID == h.id {
		h.stay(ctx, &record)
		return
	}
	letGo, locked, err := h.take(&record)
	if err != nil {
		h.noteDenied(ctx, &record, "follow into the conversation", err)
		return
	}
	h.letGo()
	h.id, h.letGo, h.locked = record.SessionID, letGo, locked
	if h.denied == h.id {
		_ = h.launcher.journal(ctx, "leased", &record, "took the lease of the conversation")
	}
	h.denied = ""
}

// stay locks the transcript of the held conversation, once it exists.
func (h *holding) stay(ctx context.Context, record *agent.Record) {
	if !h.locked {
		release, locked, err := h.config.Hold(h.id)
		if err != nil {
			h.noteDenied(ctx, record, "lock the transcript", err)
			return
		}
		endLease := h.letGo
		h.letGo, h.locked = func() { release(); endLease() }, locked
	}
	h.denied = "" // the agent may have come back to it
}

// How often, and for how long at most, the registry is read again for a move that a hook has reported: often at
// first, because it usually follows soon, then less often.
const (
	followAgain  = 50 * time.Millisecond
	followLate   = time.Second
	followAtMost = 2 * time.Minute
)

// moveRecord moves the record to the conversation to which claude has moved by itself. A hook reports the move, but
// only Claude's registry is trusted, and that may be a moment behind the hook.
func (h *holding) moveRecord(ctx context.Context, record *agent.Record) {
	if record.Process.PID == 0 || record.Desired != agent.DesiredRunning {
		return
	}
	report := h.launcher.Store.Report(h.handle)
	starting := h.launcher.verbStarts(h.handle)
	entry, err := h.config.Registry().Entry(record.Process.Claude().PID)
	if err == nil && !starting {
		if moved, ok := observe.MoveSeen(ctx, h.launcher.Machine, h.launcher.Store, record, entry, report, h.launcher.Now()); ok {
			*record = moved
		}
	}
	said := report.Move
	if said == nil || report.Invocation != h.start || said.SessionID == record.SessionID {
		return
	}
	waited, next := h.launcher.Now().Sub(said.At), followAgain
	if waited > live.HookLead {
		next = followLate
	}
	switch {
	case waited > followAtMost: // the hook of the next turn asks again
	case h.again == nil:
		h.again = time.AfterFunc(next, func() { h.follow(ctx) })
	default:
		h.again.Reset(next)
	}
}

// verbStarts reports whether a command is starting the agent, or is about to, and waits for the result.
func (l *Launcher) verbStarts(handle agent.Handle) bool {
	if holder, signed := l.Store.VerbHolder(handle); signed && holder.Left {
		return false
	}
	return observe.StartedBy(l.Machine, l.Store, handle, l.Machine.Program(os.Getpid()))
}

// noteDenied journals, once, that another process holds a conversation, and what failed because of that.
func (h *holding) noteDenied(ctx context.Context, record *agent.Record, failed string, cause error) {
	if h.denied != record.SessionID {
		_ = h.launcher.journal(ctx, "failed", record, failed+": "+cause.Error())
	}
	h.denied = record.SessionID
}

// release releases the conversation, and stops following.
func (h *holding) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.again != nil {
		h.again.Stop()
	}
	if h.letGo != nil {
		h.letGo()
		h.letGo = nil
	}
}
