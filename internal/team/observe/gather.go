package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
)

// rereads bounds how often a record is read again because something happened to its agent.
const rereads = 4

// gather collects what can be known of an agent without tmux. It judges an end by a record that was read after the
// end was seen. If another start has replaced the one that ended, it looks at that start.
func (l *round) gather(ctx context.Context, a *subject) {
	pane := a.evidence.Pane
	for range rereads {
		a.evidence = l.evidenceOf(ctx, &a.record)
		a.evidence.Pane = pane
		if a.evidence.Claude == machine.Alive && !a.evidence.leaving() || a.record.Process == nil {
			break
		}
		l.awaitEnd(ctx, a)
		before := a.record
		if a.record, a.lost = l.Store.Load(before.Handle); a.lost != nil {
			a.record = before
			return
		}
		if SameStart(a.record.Process, before.Process) && a.record.Process.PID == before.Process.PID {
			a.evidence = l.evidenceOf(ctx, &a.record)
			a.evidence.Pane = pane
			break
		}
		pane = PaneUnasked // of another start
	}
	l.noteCause(ctx, a)
	l.noteJobOver(ctx, a)
}

// awaitEnd waits some milliseconds for a claude that is exiting, and for a launcher that still runs after its
// claude.
func (l *round) awaitEnd(ctx context.Context, a *subject) {
	p := a.record.Process
	if p.PID == 0 || a.record.ExitOf(p.Invocation) != nil {
		return
	}
	if a.evidence.leaving() {
		l.Machine.WaitGone(ctx, p.Identity, time.Until(l.deadline))
	}
	if l.Machine.IsGone(p.Identity) {
		l.awaitNoted(ctx, &a.record, l.deadline)
	}
}

// evidenceOf collects the evidence from processes, the registry and the hooks.
func (l *round) evidenceOf(ctx context.Context, r *agent.Record) Evidence {
	e := Evidence{Now: l.Now(), Screen: screen.Reading{State: agent.Unknown}}
	if r.Process == nil {
		e.Strangers, e.StrangersErr = l.strangersOfUnidentified(r)
		return e
	}
	e.Report = l.reportOf(r)
	e.Claude, e.Ending, e.ClaudeErr = l.Machine.CheckEnding(r.Process.Identity)
	if e.Claude == machine.Alive {
		if entry, err := l.Registered(r); err == nil {
			e.Entry = &entry
			l.followSeen(ctx, r, &e)
		} else {
			e.Claude, e.Ending, e.ClaudeErr = l.Machine.CheckEnding(r.Process.Identity) // an ending claude leaves the registry first
		}
	}
	if e.Claude == machine.Alive {
		e.Failure, e.TurnDone = l.outcomeOf(r, &e)
		return e
	}
	e.LauncherLives = l.Machine.IsAlive(r.Process.LauncherIdentity())
	e.BeingStarted = l.BeingStarted(r)
	e.Death = l.deathOf(r)
	if e.Claude == machine.Foreign || r.ExitOf(r.Process.Invocation) != nil {
		e.Job = l.jobOf(ctx, r)
		e.Failure, e.TurnDone = e.Report.Failure, !e.Report.Done.IsZero()
	}
	if r.BacksOff() {
		pause, err := l.Store.Watching().Paused()
		e.Paused = pause != nil || err != nil
	}
	return e
}

// reportOf returns what the hooks of the record's start reported. If they reported nothing, it has only the last words
// of an earlier start.
func (l *round) reportOf(r *agent.Record) agent.Report {
	report := l.Store.Report(r.Handle)
	if report.Invocation != r.Process.Invocation {
		return agent.Report{Words: report.Words}
	}
	return report
}

func (o *Project) strangersOfUnidentified(r *agent.Record) ([]Stranger, error) {
	if r.PID == 0 {
		return nil, nil
	}
	return o.Strangers(r)
}

// outcomeOf returns how the last turn of this start ended: from its hooks or, if they have reported nothing, from
// the transcript.
func (o *Project) outcomeOf(r *agent.Record, e *Evidence) (failure *agent.Failure, done bool) {
	if e.Report.Activity != nil {
		return e.Report.Failure, !e.Report.Done.IsZero()
	}
	if e.Entry == nil || e.Entry.Status != live.StatusIdle {
		return nil, false
	}
	config, err := o.ConfigOf(r)
	if err != nil {
		return nil, false
	}
	transcript, found, err := config.Transcript(r.SessionID)
	if err != nil || !found || transcript.Modified.Before(r.Started) {
		return nil, false
	}
	last, err := transcript.LastTurn()
	switch {
	case err != nil || !last.Ended || last.At.Before(r.Started):
		return nil, false
	case last.Error != nil:
		return &agent.Failure{Class: last.Error.Class, At: last.At}, false
	}
	return nil, true
}

// Registered returns the registry entry of the recorded process, never that of an earlier
// process with the same pid.
func (o *Project) Registered(r *agent.Record) (live.Entry, error) {
	config, err := o.ConfigOf(r)
	if err != nil {
		return live.Entry{}, err
	}
	registered := r.Process.Claude()
	entry, err := config.Registry().Entry(registered.PID)
	if err == nil && !entry.Start.Is(registered.StartTicks) {
		return live.Entry{}, fmt.Errorf("the registry entry of pid %d is of an earlier process: %w", entry.PID, os.ErrNotExist)
	}
	return entry, err
}

// FindWrapped looks for a claude that is a descendant of the recorded process and has the recorded conversation in
// Claude's registry. The recorded process is then a wrapper around it.
func (o *Project) FindWrapped(r *agent.Record) (agent.Identified, bool) {
	config, err := o.ConfigOf(r)
	if err != nil {
		return agent.Identified{}, false
	}
	below, _ := o.Machine.Descendants(r.Process.PID) // what cannot be listed is not found
	for _, id := range below {
		entry, err := config.Registry().Entry(id.PID)
		if err == nil && entry.Start.Is(id.StartTicks) && entry.SessionID == r.SessionID {
			return id.Identified, true
		}
	}
	return agent.Identified{}, false
}

// BeingStarted reports whether another command is about to bring the agent up: it has recorded the start, and tmux
// does not have its session yet.
func (o *Project) BeingStarted(r *agent.Record) bool {
	return StartedBy(o.Machine, o.Store, r.Handle, filepath.Base(o.Program))
}

// StartedBy is [Project.BeingStarted] for a program of that name.
func StartedBy(m *machine.Machine, opened *store.Store, handle agent.Handle, program string) bool {
	holder, held := VerbAtWork(m, opened, handle, program)
	return held && slices.Contains([]string{"spawn", "resume", "restart"}, holder.Verb)
}

// VerbAtWork returns the other process that holds the agent's verb lock. A killed holder leaves its signature in the
// lock, and its pid may later belong to a launcher. A launcher does not have the verb lock open.
func VerbAtWork(m *machine.Machine, opened *store.Store, handle agent.Handle, program string) (store.Holder, bool) {
	holder, signed := opened.VerbHolder(handle)
	if !signed || holder.PID == os.Getpid() || m.Program(holder.PID) != program {
		return holder, false
	}
	holds, err := m.Opened(holder.PID, opened.VerbLock(handle))
	return holder, holds || err != nil && !errors.Is(err, os.ErrNotExist)
}

// IsRegistered reports whether a live process has an entry in Claude's registry.
func IsRegistered(m *machine.Machine, config claude.Config, pid int) bool {
	live, err := config.Registry().Entry(pid)
	if err != nil {
		return false
	}
	id, err := m.Identify(pid)
	return err == nil && live.Start.Is(id.StartTicks)
}
