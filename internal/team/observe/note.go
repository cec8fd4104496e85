package observe

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/journal"
)

// What a look records. A look does not fail if it cannot write.

// FollowSignal asks a launcher to check whether its record has moved to another conversation and whether
// a message waits for the agent, and to look for claude's registry entry. The signal is harmless to a
// process that does not expect it; the kernel sends it too, when claude stops or ends.
const FollowSignal = unix.SIGCHLD

// followSeen moves the record of a live agent to the conversation in its registry entry, because
// hooks may be turned off.
func (o *Project) followSeen(ctx context.Context, r *agent.Record, e *Evidence) {
	if e.Entry.SessionID == r.SessionID || r.Desired != agent.DesiredRunning || o.BeingStarted(r) {
		return
	}
	if now, moved := MoveSeen(ctx, o.Machine, o.Store, r, *e.Entry, e.Report, o.Now()); moved {
		*r = now
	}
}

// MoveSeen moves the record of a running agent to the conversation in its registry entry, with the reason that its
// hooks reported.
func MoveSeen(ctx context.Context, m *machine.Machine, opened *store.Store, r *agent.Record, entry live.Entry, report agent.Report, at time.Time) (agent.Record, bool) {
	id, moved := entry.MovedTo(r, report, live.HookLead)
	if !moved {
		return *r, false
	}
	reason := live.Moved
	if said := report.Move; said != nil && report.Invocation == r.Process.Invocation && said.SessionID == id {
		reason = said.Reason
	}
	now, _, err := MoveTo(ctx, m, opened, r, id, reason, at)
	return now, err == nil
}

// MoveTo moves the record of a running agent to another conversation, records the move in the journal and wakes the
// launcher, so that its lease follows. untold is the reason why the journal has no entry for the move.
func MoveTo(ctx context.Context, m *machine.Machine, opened *store.Store, from *agent.Record, id agent.SessionID, reason string, at time.Time) (r agent.Record, untold, err error) {
	if err := opened.CheckSeal(from); fail.KindOf(err) == fail.Held { // its process may belong to another program
		return *from, nil, err
	}
	at = at.UTC().Truncate(time.Second)
	r, untold, err = opened.Move(ctx, from.Handle, at, func(r *agent.Record) error {
		if !SameStart(r.Process, from.Process) || r.SessionID != from.SessionID {
			return agent.ErrSuperseded
		}
		r.Replace(id, at, reason)
		return nil
	})
	if err == nil {
		Wake(m, &r)
	}
	return r, untold, err
}

// Wake signals an agent's launcher that the record has moved, or that claude is ready.
func Wake(m *machine.Machine, r *agent.Record) {
	running, liveness, err := m.Open(r.Process.LauncherIdentity())
	if err != nil || liveness != machine.Alive {
		return
	}
	_ = running.Signal(FollowSignal) // a launcher that has just left needs none
	_ = running.Close()
}

// noteCause records the cause of a death while it can still be determined. Later the tmux server ends too, or the
// machine reboots, and that would look like the cause.
func (o *Project) noteCause(ctx context.Context, a *subject) {
	e := &a.evidence
	if a.record.Process == nil || e.Claude != machine.Gone || e.LauncherLives || e.BeingStarted || !e.Death.settles(&a.record, e.Now) {
		return
	}
	cause, detail := e.Death.Why(&a.record)
	o.noteEnd(ctx, a, cause, detail, func(r *agent.Record) bool { return e.Death.settles(r, e.Now) })
}

// noteEnd records why the start that a look has seen has ended, while holds holds of its record.
func (o *Project) noteEnd(ctx context.Context, a *subject, cause agent.Cause, detail string, holds func(*agent.Record) bool) {
	noted, err := o.Store.Update(ctx, a.record.Handle, func(r *agent.Record) error {
		if !SameStart(r.Process, a.record.Process) || r.Process.PID != a.record.Process.PID || !holds(r) {
			return agent.ErrSuperseded
		}
		exit := r.ExitOf(r.Process.Invocation)
		if exit == nil {
			r.AddExit(agent.Exit{At: o.Seconds(), Invocation: r.Process.Invocation, Code: -1})
			exit = r.ExitOf(r.Process.Invocation)
		}
		exit.Cause, exit.Detail = cause, detail
		return nil
	})
	if err != nil {
		return
	}
	a.record = noted
	what := string(cause)
	if detail != "" {
		what += ", " + detail
	}
	_ = o.Store.Journal().Append(ctx, journal.EventOf(&noted, o.Seconds(), "found", what))
}

// HookLead returns how long the hooks may be ahead of the registry: 0 for a process that has
// ended, because it writes nothing late.
func HookLead(m *machine.Machine, r *agent.Record) time.Duration {
	if r.Process == nil || !m.IsAlive(r.Process.Identity) {
		return 0
	}
	return live.HookLead
}

// NoteTranscript records that the conversation has a transcript, so that its loss is noticed later.
func NoteTranscript(r *agent.Record, config claude.Config, now time.Time) {
	if has, err := config.HasMessages(r.SessionID); err == nil && has {
		r.TranscriptSeen = now
	}
}

// Note records an action in the journal. If that fails, the verb fails.
func (o *Project) Note(ctx context.Context, event string, r *agent.Record, detail string) error {
	return o.Store.Journal().Append(ctx, journal.EventOf(r, o.Seconds(), event, detail))
}
