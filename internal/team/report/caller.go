// Package report records what claude reports about itself: its hooks and its status line call nbs-worker, below
// claude and with its rights.
//
//   - It writes the report of the agent's present start, which decides nothing. An agent can call a hook itself, so a
//     hook moves no record and no lease. It wakes the launcher, which trusts only Claude's registry.
//   - A call counts only if the recorded claude makes it; any other is ignored.
//   - It holds one lock at a time, and it seals nothing.
package report

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

// Caller is the agent whose claude makes the call, according to its environment.
type Caller struct {
	Machine    *machine.Machine
	Handle     agent.Handle
	Invocation agent.Invocation
	Root       string // project root at the start
	Dir        string // the folder of the call: the project may have been moved
	ConfigDir  string // of the calling claude; "" for the usual one
}

// Open finds the project in which the caller's start is recorded. Errors: [agent.ErrSuperseded] if there is no such
// project, or if the calling claude is not the recorded one: its reports are ignored.
func (c Caller) Open() (*store.Store, agent.Record, error) {
	if _, err := agent.ParseHandle(string(c.Handle)); err != nil || c.Invocation == "" {
		return nil, agent.Record{}, agent.ErrSuperseded
	}
	if opened, r, found := c.recordedIn(c.Root); found {
		return opened, r, nil
	}
	if here, err := store.Find(c.Dir); err == nil && here != c.Root {
		if opened, r, found := c.recordedIn(here); found {
			return opened, r, nil
		}
	}
	return nil, agent.Record{}, agent.ErrSuperseded
}

func (c Caller) recordedIn(root string) (*store.Store, agent.Record, bool) {
	opened, err := store.Open(root)
	if err != nil {
		return nil, agent.Record{}, false
	}
	r, err := opened.Load(c.Handle)
	if err == nil && c.started(&r) && !c.belowAnother(r.Process) && c.speaksFor(r.Process) {
		return opened, r, true
	}
	_ = opened.Close() // it was only read
	return nil, agent.Record{}, false
}

// started reports whether the caller's start is the recorded one.
func (c Caller) started(r *agent.Record) bool {
	return r.Process != nil && r.Process.Invocation == c.Invocation
}

// speaksFor reports whether the calling claude may be the recorded process. A claude that the agent's tools started
// has inherited the agent's variables, and may have our hooks too. It has its own entry in Claude's registry, except
// in its first and last moments; then its program shows it. A recorded process without an entry is a user's wrapper
// that runs claude.
func (c Caller) speaksFor(p *agent.Process) bool {
	config, err := claude.ConfigAt(c.ConfigDir)
	if err != nil {
		return true
	}
	entry, err := config.Registry().Entry(p.PID) // readable also within a sandbox that hides the process
	isClaude, program, others := err == nil && entry.Is(p), c.Machine.Program(p.PID), 0
	for _, pid := range c.Machine.Ancestors() {
		if pid == p.PID || pid == p.Launcher.PID {
			break
		}
		if observe.IsRegistered(c.Machine, config, pid) || isClaude && program != "" && c.Machine.Program(pid) == program {
			others++
		}
	}
	return others == 0 || others == 1 && !isClaude
}

// belowAnother reports whether the call comes from below another agent's claude. It reads the environments that the
// processes above were started with: that of the call itself may have been changed.
func (c Caller) belowAnother(p *agent.Process) bool {
	for _, pid := range c.Machine.Ancestors() {
		if pid == p.PID || pid == p.Launcher.PID {
			return false
		}
		if mark := lineage.MarkOf(c.Machine, pid); mark != "" && mark != c.Invocation {
			return true
		}
	}
	return false
}
