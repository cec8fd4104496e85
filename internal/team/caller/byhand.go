package caller

import (
	"cmp"
	"errors"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

// A claude without a record is not a person either: it was started by hand, or is a worker of Claude's background
// daemon. Its command line shows what it has.

// byHand finds the claude above the command if no agent is there; nil if there is no claude. If there are several,
// the nearest one is the caller, and it gets nothing that one above it lacks.
func (f finder) byHand(line []lineage.Process, server lineage.Process) *Caller {
	var found *Caller
	for i, a := range line[1:] {
		words := f.withoutOurs(a.Cmdline)
		switch {
		case !a.IsClaude():
		case found == nil:
			found = byHand(a, words)
			found.doubt = cmp.Or(found.doubt, f.doubtHome(found.env))
			f.name(found, a, line[i+2:])
		default:
			found.narrow(byHand(a, words))
		}
	}
	ofTools := slices.ContainsFunc(line, func(a lineage.Process) bool { return claude.IsOfTools(a.Variable) })
	if found == nil && ofTools && !claude.IsOfTools(server.Variable) {
		return &Caller{byHand: true, doubt: errors.New("its process is no longer above the command")}
	}
	return found
}

// name gives the claude of a turn the name and the depth of the agent that asked for the turn: the turn's request,
// which has the user's seal, contains them. The claude's environment names the attempt at the turn. The process that
// runs the attempt must be above the claude.
func (f finder) name(c *Caller, a lineage.Process, above []lineage.Process) {
	attempt := agent.Invocation(a.Variable(agent.TurnVariable))
	if attempt == "" {
		return
	}
	drawer := f.project.Store.Conversations()
	keys, _ := drawer.WithWork() // a turn that cannot be read gives no name
	for _, key := range keys {
		of := drawer.Of(key)
		state, err := of.State()
		if err != nil || len(state.Open) == 0 || len(state.Open[0].Starts) == 0 {
			continue
		}
		head := state.Open[0]
		start := head.Starts[len(head.Starts)-1]
		runs := func(a lineage.Process) bool {
			return a.PID == start.Runner.PID && f.project.Machine.IsAlive(start.Runner)
		}
		if start.Invocation != attempt || !slices.ContainsFunc(above, runs) {
			continue
		}
		if ask, err := of.Request(head.Seq); err == nil && ask.Powers != nil && ask.Powers.Handle != "" {
			c.byHand, c.record.Handle, c.record.Depth = false, ask.Powers.Handle, ask.Powers.Depth
		}
		return
	}
}

// withoutOurs returns the command line of a claude. If nbs-worker runs the claude for a turn, it leaves out what
// nbs-worker has added.
func (f finder) withoutOurs(words []string) []string {
	if len(words) == 0 {
		return words
	}
	closed := observe.Closed(f.project.Store)
	extra, isTurn := turn.Extra(words[1:], []string{turn.Settings(closed, false), turn.Settings(closed, true)})
	if !isTurn {
		return words
	}
	return append(words[:1:1], extra...)
}

// byHand describes a claude without a record by its command line, folder and environment.
func byHand(a lineage.Process, words []string) *Caller {
	launched := cmdline.ReadLaunch(words)
	c := &Caller{byHand: true, project: a.Cwd, env: a.Env, doubt: a.Unseen}
	c.record = agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Cwd: a.Cwd, ConfigDir: claude.ConfigDirIn(a.Cwd, a.Variable(claude.ConfigDirVariable)),
			PermissionMode: agent.PermissionMode(cmp.Or(launched.PermissionMode, "default")), ClaudeArgs: launched.Extra,
		},
		Process: &agent.Process{Identity: a.Identity},
	}
	if roots := rootsOf([]lineage.Process{a}); len(roots) > 0 {
		c.project = roots[0]
	}
	if untold := slices.Concat(launched.Lost, launched.Unclear); len(untold) > 0 && c.doubt == nil {
		c.doubt = errors.New("what " + untold[0] + " on its command line gave it is unknown")
	}
	return c
}

// narrow removes from a caller what the claude above it does not have.
func (c *Caller) narrow(above *Caller) {
	if above.record.PermissionMode.Within(c.record.PermissionMode) {
		c.record.PermissionMode = above.record.PermissionMode
	}
	if c.doubt = cmp.Or(c.doubt, above.doubt); c.doubt == nil && !slices.Equal(c.record.ClaudeArgs, above.record.ClaudeArgs) {
		c.doubt = errors.New("the claude above it has other arguments")
	}
}
