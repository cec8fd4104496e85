package adopt

import (
	"cmp"
	"context"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

// Unrecorded is a Claude session of this user that has no record in the project.
type Unrecorded struct {
	PID       int
	SessionID agent.SessionID // "": not in Claude's registry
	State     string          // according to the registry; "": unknown
	Cwd       string
	Tmux      string // session and server; "": not in tmux
	Agent     agent.Handle
	Project   string // of Agent, if that belongs to another project
	Obstacle  string // why it cannot be adopted without a change; "": it can
	OpenIn    []int  // other processes that have the conversation open
}

// List returns the Claude sessions of this user that have no record in the project, and its agents whose conversation
// another process has open too.
func List(ctx context.Context, o *observe.Project) ([]Unrecorded, error) {
	s := search{o}
	pids, err := claudes(o)
	if err != nil {
		return nil, err
	}
	var all []Unrecorded
	open := map[agent.SessionID][]int{}
	for _, pid := range pids {
		session, there := s.describe(pid, pids)
		if !there {
			continue
		}
		if session.SessionID != "" {
			open[session.SessionID] = append(open[session.SessionID], pid)
		}
		all = append(all, session)
	}
	shown := all[:0]
	for _, session := range all {
		for _, other := range open[session.SessionID] {
			if session.SessionID != "" && other != session.PID {
				session.OpenIn = append(session.OpenIn, other)
			}
		}
		if session.Agent != "" && session.Project == "" && len(session.OpenIn) == 0 {
			continue // recorded, and no other process has its conversation open
		}
		session.Tmux = s.placeOf(ctx, session.PID).String()
		shown = append(shown, session)
	}
	return shown, nil
}

// claudes returns the processes of this user that are claudes, by their names or by the registry of the caller's
// configuration.
func claudes(o *observe.Project) ([]int, error) {
	named, err := o.Machine.Find("claude", cmdline.IsClaude)
	if err != nil {
		return nil, err
	}
	dir, err := o.CallersConfigDir()
	if err != nil {
		return nil, err
	}
	config, err := claude.ConfigAt(dir)
	if err != nil {
		return nil, err
	}
	pids, err := config.Registry().PIDs()
	if err != nil {
		return nil, err
	}
	for _, id := range named {
		pids = append(pids, id.PID)
	}
	slices.Sort(pids)
	pids = slices.Compact(pids)
	return slices.DeleteFunc(pids, func(pid int) bool {
		return !o.Machine.IsOurs(pid)
	}), nil
}

// describe returns what is known about one process of all. there is false if it has ended, if its registry entry is a
// leftover, and for a forked child that shows its parent's command line until it executes its own program.
func (s search) describe(pid int, all []int) (u Unrecorded, there bool) {
	f := handStarted{Process: lineage.Look(s.project.Machine, pid)}
	if f.StartTicks == 0 {
		return u, false
	}
	unregistered := s.readRegistry(&f)
	chain := s.project.Machine.AncestorsOf(pid)
	if unregistered != nil && (!cmdline.IsClaude(f.Cmdline) || len(chain) > 1 && slices.Contains(all, chain[1])) {
		return u, false
	}
	u = Unrecorded{PID: pid, Cwd: f.Cwd}
	if unregistered == nil {
		u.SessionID, u.State = f.live.SessionID, f.live.Status
	}
	owner, owned := s.project.Lineage().OwnerOf(f.Identity)
	if u.Agent = owner.Handle; owned && owner.Project != s.project.Store.Project() {
		u.Project = owner.Project
	}
	if _, err := s.find(pid); err != nil {
		u.Obstacle = err.Error()
	}
	return u, s.project.Machine.IsAlive(f.Identity)
}

// String returns a place in words for people.
func (p place) String() string {
	if p.server == nil {
		return ""
	}
	return cmp.Or(p.session, "?") + " on " + p.server.Socket
}
