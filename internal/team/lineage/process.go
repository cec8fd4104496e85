// Package lineage answers two questions about the processes of the machine: which agent does a process belong to, and
// what is left of a start.
//
// A process tells by the environment that it was started with, its command line, its folder, and the processes above it.
// Its own account is not enough: any process can have an agent's mark. It counts together with a record, and for ending
// a process together with the identity in the record.
//
// macOS hides the environments of some programs. Such a process belongs to an agent only by what is above it: it is a
// descendant of the agent's claude or launcher, or an orphan in a process group or session that one of these leads, and
// no other agent's launcher or claude is in between. What these do not show either is unknown, and belongs to no agent.
//
// The package reads, and ends no process.
package lineage

import (
	"cmp"
	"errors"
	"os"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/platform/machine"
)

// IsTmuxServer reports whether a process is a tmux server. On Linux tmux gives a server a name of its own. On macOS all of
// tmux has the name of its program, and a server is what its starter has left to the first process.
func IsTmuxServer(m *machine.Machine, pid int) bool {
	name := m.Name(pid)
	return name == "tmux: server" || name == "tmux" && m.Parent(pid) <= 1
}

// Process is a process as it was when it was looked at.
type Process struct {
	agent.Identity // without a birth if it has ended

	Cmdline []string
	Cwd     string
	Env     []string // at its start
	Hidden  bool     // the operating system does not show its environment
	Unseen  error    // why its identity or its folder is not known
}

// Look reads what a process shows. The environment of another user's process cannot be read.
func Look(m *machine.Machine, pid int) Process {
	id, err := m.Identify(pid)
	cwd, err2 := m.Cwd(pid)
	p := Process{Identity: id, Cwd: cwd, Unseen: cmp.Or(err, err2)}
	p.PID = pid
	p.Cmdline, _ = m.Cmdline(pid)
	env, err := m.Environ(pid)
	p.Env, p.Hidden = env, errors.Is(err, machine.ErrUnknown)
	return p
}

// Above returns this command and the processes above it, up to a tmux server. If an agent's shell started the server,
// every pane has the agent's mark, also a person's. So a mark that the server has too means nothing. tmux leaves a server
// to the first process: what has the name of a server below a claude is a program of the claude's.
func Above(m *machine.Machine) (line []Process, server Process) {
	isClaude := func(pid int) bool { return Look(m, pid).IsClaude() }
	pids := m.Ancestors()
	for i, pid := range pids {
		above := Look(m, pid)
		if IsTmuxServer(m, pid) && !slices.ContainsFunc(pids[i+1:], isClaude) {
			return line, above
		}
		line = append(line, above)
	}
	return line, Process{}
}

// Variable reads a variable from the environment at the start; "" if it is not set.
func (p Process) Variable(name string) string { return agent.Variable(p.Env, name) }

// Mark returns the start of an agent to which the process claims to belong, or "".
func (p Process) Mark() agent.Invocation {
	return agent.Invocation(p.Variable(agent.InvocationVariable))
}

// Handle returns the agent that the process claims to be. It may be no valid handle.
func (p Process) Handle() agent.Handle { return agent.Handle(p.Variable(agent.HandleVariable)) }

// Root returns the project of that agent, or "".
func (p Process) Root() string { return p.Variable(agent.RootVariable) }

// Entry returns the entry of the process in the registry of its configuration. If its environment is hidden, the
// configuration of this command is taken: an entry there names the start of its process, so it is not another's.
func (p Process) Entry() (entry live.Entry, registered bool) {
	variable := p.Variable
	if p.Hidden {
		variable = os.Getenv
	}
	config, err := claude.ConfigUsedBy(p.Cwd, variable)
	if err != nil {
		return live.Entry{}, false
	}
	entry, err = config.Registry().Entry(p.PID)
	return entry, err == nil && entry.Start.Is(p.StartTicks)
}

// IsClaude reports whether the process is a claude: by its name, or by its entry in Claude's registry.
func (p Process) IsClaude() bool {
	if cmdline.IsClaude(p.Cmdline) || cmdline.IsBackground(p.Cmdline) {
		return true
	}
	_, registered := p.Entry()
	return registered
}

// Turn is what a headless claude of ours was started for.
type Turn struct {
	Invocation agent.Invocation
	Converses  bool // it answers a conversation; otherwise it observes an agent for the memory
}

// TurnOf returns what a process was started for. isTurns is false if it is not a headless claude of ours.
func TurnOf(m *machine.Machine, pid int) (t Turn, isTurns bool) {
	attempt, isTurns := m.Variable(pid, agent.TurnVariable)
	_, converses := m.Variable(pid, turn.ContextVariable) // may be set to ""
	return Turn{agent.Invocation(attempt), converses}, isTurns
}
