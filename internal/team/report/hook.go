package report

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/spool"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/turnfiles"
	"nbs-worker/internal/team/observe"
)

// Hook is a call of one of claude's hooks.
type Hook struct {
	said live.Hook
}

// ReadHook reads the input that claude gives to a hook.
func ReadHook(in io.Reader) (Hook, error) {
	said, err := live.ReadHook(in)
	return Hook{said}, err
}

// Report records the content of a call at the given time.
func (h Hook) Report(ctx context.Context, c Caller, opened *store.Store, at time.Time) error {
	var move *agent.Move
	idle := false
	err := c.report(ctx, opened, at, func(report *agent.Report) {
		h.said.Apply(report, at)
		idle = report.Activity != nil && report.Activity.State == agent.Idle && report.Activity.At.Equal(at)
		if id, reason, moves := h.said.MovesTo(report, at); moves {
			move = &agent.Move{SessionID: id, Reason: reason, At: at}
			report.Move = move
		}
	})
	if err == nil && move != nil {
		err = c.askToMove(ctx, opened, move)
	}
	if err == nil && idle && opened.Outbox(c.Handle).Newest() != "" {
		err = c.wakeForOutbox(opened)
	}
	return errors.Join(err, c.keepHooked(ctx, opened, h.said), c.announce(opened, h.said, at), c.endRequests(opened, h.said))
}

// announce notifies the memory, if that is on, that a turn has ended. It does not pass the words on: they are in the
// transcript, which is found through the record.
func (c Caller) announce(opened *store.Store, hook live.Hook, at time.Time) error {
	switch hook.Event {
	case "Stop", "StopFailure", "SessionEnd":
	default:
		return nil
	}
	if hook.Subagent != "" {
		return nil
	}
	r, err := opened.Load(c.Handle)
	if err != nil || !r.Memory {
		return err
	}
	said := spool.Announcement{Handle: r.Handle, Invocation: c.Invocation, SessionID: hook.SessionID, At: at}
	if info, err := os.Stat(hook.Transcript); err == nil {
		said.Size = info.Size()
	}
	return opened.Spool().Put(said)
}

// Briefing takes the briefing for the beginning of the agent's conversation, beside its first prompt. It returns ""
// if there is no briefing, and for any other hook than claude's startup.
func (h Hook) Briefing(c Caller, opened *store.Store) (string, error) {
	if h.said.Event != "SessionStart" || h.said.Source != "startup" || h.said.Subagent != "" {
		return "", nil
	}
	return opened.TurnFiles(c.Invocation).Take(turnfiles.Briefing)
}

// wakeForOutbox wakes the launcher, because the agent can take messages from its outbox.
func (c Caller) wakeForOutbox(opened *store.Store) error {
	r, err := opened.Load(c.Handle)
	if err != nil {
		return err
	}
	if !c.started(&r) {
		return agent.ErrSuperseded
	}
	observe.Wake(c.Machine, &r)
	return nil
}

// askToMove asks the launcher to move the record to the conversation that the hook names. An agent can call a hook
// itself, so the call moves nothing: the launcher trusts only Claude's registry, and has the key of the seals. A
// start that is not verified yet has not moved: it is in the recorded conversation, or wrong.
func (c Caller) askToMove(ctx context.Context, opened *store.Store, move *agent.Move) error {
	r, err := opened.Load(c.Handle)
	if err != nil || observe.StartedBy(c.Machine, opened, c.Handle, c.Machine.Program(os.Getpid())) {
		return err
	}
	if !c.started(&r) {
		return agent.ErrSuperseded
	}
	holder, held := opened.LeaseHolder(move.SessionID)
	if r.SessionID != move.SessionID || !held || holder.PID != r.Process.Launcher.PID { // the holder of the lease may have left since
		observe.Wake(c.Machine, &r)
	}
	if r.SessionID != move.SessionID {
		return nil
	}
	return c.nameReason(ctx, opened, &r, move.Reason, move.At)
}

// nameReason adds the hook's reason to a move that was seen in the registry before the hook was called. The registry
// names no reason.
func (c Caller) nameReason(ctx context.Context, opened *store.Store, r *agent.Record, reason string, at time.Time) error {
	const justNow = 10 * time.Second
	last := len(r.PreviousSessions) - 1
	if last < 0 || r.PreviousSessions[last].Reason != live.Moved || reason == live.Moved || at.Sub(r.PreviousSessions[last].Until) > justNow {
		return nil
	}
	_, err := opened.Update(ctx, c.Handle, func(now *agent.Record) error {
		if !observe.SameStart(now.Process, r.Process) || len(now.PreviousSessions) != last+1 {
			return agent.ErrSuperseded
		}
		now.PreviousSessions[last].Reason = reason
		return nil
	})
	return err
}

// report changes the report of this start, for a call at the given time. It replaces the report of another start, all
// but the words and the last turn of the conversation; except that of a later start that began while the call waited for the lock.
func (c Caller) report(ctx context.Context, opened *store.Store, at time.Time, change func(*agent.Report)) error {
	var late error
	err := opened.UpdateReport(ctx, c.Handle, func(report *agent.Report) {
		if report.Invocation != c.Invocation {
			r, err := opened.Load(c.Handle)
			if late = err; err == nil && !c.started(&r) {
				late = agent.ErrSuperseded
			}
			if late != nil {
				return
			}
			*report = agent.Report{Invocation: c.Invocation, Words: report.Words, Began: report.Began}
		}
		report.PutBack(time.Now(), at)
		change(report)
	})
	return cmp.Or(late, err)
}

// keepHooked keeps the transcript that a hook names, at the ends of turns and of conversations. After a /clear, no
// other code sees the old one in time. It keeps only the agent's own conversations: what is kept under the id of
// another agent's would be restored for that one.
func (c Caller) keepHooked(ctx context.Context, opened *store.Store, hook live.Hook) error {
	switch hook.Event {
	case "UserPromptSubmit", "Stop", "StopFailure", "SessionEnd":
	default:
		return nil
	}
	if hook.Subagent != "" || filepath.Base(hook.Transcript) != string(hook.SessionID)+".jsonl" {
		return nil
	}
	r, err := opened.Load(c.Handle)
	if err != nil || !slices.Contains(r.Conversations(), hook.SessionID) {
		return err
	}
	opened.Use(trust.NewKeeper(opened.Home())) // only to check: a hook does not seal
	if allowed, err := opened.IsAllowed(&r); !allowed {
		return err
	}
	err = opened.Archive().Keep(ctx, hook.SessionID, hook.Transcript)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no transcript is written yet
	}
	if hook.SessionID == r.SessionID && r.TranscriptSeen.IsZero() && c.started(&r) {
		observe.Wake(c.Machine, &r) // its launcher could not lock a transcript that did not exist yet
	}
	return err
}
