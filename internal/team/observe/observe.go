// Package observe finds out what an agent is doing, or why it does not run. It turns evidence into a status. list,
// session, wait and doctor all ask [Project.Look], so they never disagree.
//
// judge.go has the order in which the sources are believed. A question without an answer makes an agent unknown,
// never dead. An end is judged by a record that was read after the end was seen. If a launcher is recording an end,
// the look waits for it.
//
// The package reads. It writes only in note.go, and only facts that a look alone can see and that would otherwise be
// lost: the cause of a death, and a move to another conversation. It ends no process and does not depend on any
// verb.
package observe

import (
	"path/filepath"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/lineage"
)

// Project is a project as one command sees it: its store, the machine, and the environment of the call. It is passed on,
// and its methods look at the agents.
type Project struct {
	Store   *store.Store
	Machine *machine.Machine
	Tmux    func(socket string) (*tmux.Client, error)
	Socket  string   // where sessions are made: name or path; "" for where the agent was, or the default server
	Env     []string // the caller's environment
	Program string   // path of nbs-worker
	UID     int
	Now     func() time.Time
	Began   time.Time // when the command was given
	Outside bool      // the caller may see the states of agents, but not what their screens show
	Jobs    *Jobs     // what Slurm said last; nil: it is asked each time
}

// Seconds returns the present time in the precision of records.
func (o *Project) Seconds() time.Time { return o.Now().UTC().Truncate(time.Second) }

// Lineage answers whose a process is.
func (o *Project) Lineage() lineage.Finder {
	return lineage.Finder{Machine: o.Machine, Store: o.Store, Program: o.Program, Env: o.Env}
}

// ConfigOf returns the configuration of the claude of a record.
func (o *Project) ConfigOf(r *agent.Record) (claude.Config, error) {
	return claude.ConfigOf(&r.Spec, o.Env)
}

// HooksOff returns why the claude of a record runs no hook of ours; "" if it runs them.
func (o *Project) HooksOff(r *agent.Record) string {
	config, err := o.ConfigOf(r)
	if err != nil {
		return ""
	}
	return config.HooksOff(r.LaunchCwd(), r.ClaudeArgs)
}

// Variable returns a variable of the caller's environment.
func (o *Project) Variable(name string) string {
	return agent.Variable(o.Env, name)
}

// SameStart reports whether two records name the same start.
func SameStart(a, b *agent.Process) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Invocation == b.Invocation
}

// IsForeign reports whether the process of a record belongs to another host or pid namespace, so that it can be neither
// watched nor ended from here.
func (o *Project) IsForeign(r *agent.Record) bool {
	if r.Process == nil {
		return false
	}
	liveness, _ := o.Machine.Check(r.Process.Identity)
	return liveness == machine.Foreign
}

// CallersConfigDir returns the caller's folder of Claude's configuration; "" for Claude's default.
func (o *Project) CallersConfigDir() (string, error) {
	dir := o.Variable(claude.ConfigDirVariable)
	if dir == "" {
		return "", nil
	}
	return filepath.Abs(dir)
}

// SocketFor returns the tmux server for a start: the one that was asked for, otherwise the one where the agent was
// before, otherwise the user's own.
func (o *Project) SocketFor(before *agent.Process) string {
	switch {
	case o.Socket != "":
		return o.Socket
	case before != nil && before.Tmux != nil && !jobIsOver(before):
		return before.Tmux.Socket
	default:
		return tmux.DefaultSocket
	}
}

// ProjectHash distinguishes projects that use the same handle on one tmux server.
func (o *Project) ProjectHash() string {
	const enough = 8 // characters
	return o.Store.ProjectHash()[:enough]
}
