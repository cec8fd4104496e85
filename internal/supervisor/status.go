package supervisor

import (
	"fmt"
	"os"
	"path/filepath"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
	"nbs-worker/internal/tmux"
)

// witness is how a process is observed: one of many in fewer system calls.
type witness struct {
	check func(agent.Identity) (proc.Liveness, error) // whether it lives
	entry func(r *agent.Record) (claude.Live, error)  // its entry in Claude's registry
}

// closely is how one process is observed.
func (s *Supervisor) closely() witness { return witness{check: proc.Check, entry: s.registered} }

// status observes an agent. panes are those of its tmux server.
func (s *Supervisor) status(r *agent.Record, panes []tmux.Pane) agent.Status {
	_, tmuxAlive := paneOf(panes, r.Process)
	return s.statusWith(r, tmuxAlive, nil)
}

// statusWith is status where tmux has been asked for the agent's pane.
func (s *Supervisor) statusWith(r *agent.Record, tmuxAlive bool, tmuxErr error) agent.Status {
	status := s.processStatus(r, s.closely(), func() (bool, error) { return tmuxAlive, tmuxErr })
	status.TmuxAlive = tmuxAlive
	if status.Running() && !r.Started.IsZero() {
		status.Uptime = s.now().Sub(r.Started)
	}
	return status
}

// processStatus observes what can be seen of an agent without tmux. Whether its pane is
// there matters only while nothing else of it is.
func (s *Supervisor) processStatus(r *agent.Record, witness witness, tmuxAlive func() (bool, error)) agent.Status {
	if r.Process == nil {
		return s.statusWithoutProcess(r)
	}
	liveness, err := look(r.Process, witness.check)
	if liveness == proc.Alive {
		status := s.liveStatus(r, witness)
		if status.Source == agent.FromRegistry {
			return status
		}
		if liveness, err = proc.Check(r.Process.Identity); liveness == proc.Alive { // one that is ending has left the registry first
			return status
		}
	}
	switch {
	case r.ExitOf(r.Process.Invocation) != nil:
		// Its own launcher saw it end: that holds wherever it ran.
	case liveness == proc.Foreign:
		return agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: fmt.Sprintf("it runs on host %s, or in another pid namespace", agent.Quote(r.Process.Host))}
	case liveness == proc.Unsure:
		return agent.Status{State: agent.Unknown, Source: agent.FromProcess, Detail: err.Error()}
	case r.Process.PID == 0:
		if status, begun := s.startStatus(r, tmuxAlive); begun {
			return status
		}
	case alive(r.Process.LauncherIdentity()):
		return agent.Status{State: agent.Unknown, Source: agent.FromProcess, Detail: "it has just ended; its launcher is writing down how"}
	}
	s.takeLateExit(r)
	cause, detail := whyDead(r)
	return agent.Status{State: agent.Dead, Cause: cause, Detail: detail, Source: agent.FromProcess}
}

// startStatus is that of a start of which no claude is known yet, unless nothing has come of
// it. A tmux that does not answer does not say so.
func (s *Supervisor) startStatus(r *agent.Record, tmuxAlive func() (bool, error)) (status agent.Status, begun bool) {
	starting := agent.Status{State: agent.Starting, Source: agent.FromRecord}
	if alive(r.Process.LauncherIdentity()) || s.beingStarted(r) {
		return starting, true
	}
	there, err := tmuxAlive()
	if err != nil {
		return agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: "whether its start goes on, tmux does not say"}, true
	}
	return starting, there
}

// beingStarted tells whether another command is about to bring the agent up: it has written
// the start down, and tmux does not have its session yet.
func (s *Supervisor) beingStarted(r *agent.Record) bool {
	return startedBy(s.Store, r.Handle, filepath.Base(s.Program))
}

func startedBy(opened *store.Store, handle agent.Handle, program string) bool {
	holder, signed := opened.VerbHolder(handle)
	return signed && holder.PID != os.Getpid() && (holder.Verb == "spawn" || holder.Verb == "resume") &&
		proc.Program(holder.PID) == program && holdsVerb(opened, handle, holder.PID)
}

// holdsVerb tells whether a process has an agent's verb lock open: a command that was killed
// leaves its signature, and its pid may become that of a launcher, which has none.
func holdsVerb(opened *store.Store, handle agent.Handle, pid int) bool {
	holds, err := proc.Opened(pid, opened.VerbLock(handle))
	return holds || err != nil
}

// takeLateExit looks once more for the exit of a start whose claude and launcher have
// both gone: the launcher may have written it down, and left, after the record was read.
func (s *Supervisor) takeLateExit(r *agent.Record) {
	if r.ExitOf(r.Process.Invocation) != nil {
		return
	}
	if now, err := s.Store.Load(r.Handle); err == nil && sameStart(now.Process, r.Process) {
		r.Exits = now.Exits
	}
}

// registered returns the registry entry of the recorded process, and of no other
// that had its pid before.
func (s *Supervisor) registered(r *agent.Record) (claude.Live, error) {
	config, err := s.configOf(r)
	if err != nil {
		return claude.Live{}, err
	}
	return ofRecorded(r, config.Live)
}

func ofRecorded(r *agent.Record, entry func(pid int) (claude.Live, error)) (claude.Live, error) {
	live, err := entry(r.Process.PID)
	if err == nil && live.StartTicks != r.Process.StartTicks {
		return claude.Live{}, fmt.Errorf("the registry entry of pid %d is of an earlier process", live.PID)
	}
	return live, err
}

// statusWithoutProcess judges a record that names no process: one of the original
// tools, whose bare pid proves nothing.
func (s *Supervisor) statusWithoutProcess(r *agent.Record) agent.Status {
	if r.PID == 0 {
		return agent.Status{State: agent.Dead, Cause: agent.NeverStarted, Source: agent.FromRecord}
	}
	strangers, err := s.strangers(r)
	switch {
	case err != nil:
		return agent.Status{State: agent.Unknown, Source: agent.FromRegistry, Detail: err.Error()}
	case len(strangers) > 0:
		return agent.Status{State: agent.Unknown, Source: agent.FromRegistry, Detail: fmt.Sprintf("pid %d has the conversation open; the record does not identify it", strangers[0].PID)}
	}
	if r.Desired == agent.DesiredStopped {
		return agent.Status{State: agent.Dead, Cause: agent.Stopped, Source: agent.FromRecord}
	}
	return agent.Status{State: agent.Dead, Cause: agent.Crashed, Source: agent.FromRecord, Detail: "how it ended was not recorded"}
}

// alive tells whether a process was seen to live, gone whether it was seen to have ended.
// Of one that cannot be judged both are false.
func alive(id agent.Identity) bool {
	liveness, _ := proc.Check(id)
	return liveness == proc.Alive
}

func gone(id agent.Identity) bool {
	liveness, _ := proc.Check(id)
	return liveness == proc.Gone
}
