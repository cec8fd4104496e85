package caller

import (
	"cmp"
	"errors"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/team/observe"
)

// A claude without a record is not a person either: it was started by hand, or is a worker of Claude's background
// daemon. Its command line shows what it has.

// byHand finds the claude above the command if no agent is there; nil if there is no claude. If there are several,
// the nearest one is the caller, and it gets nothing that one above it lacks.
func (f finder) byHand(line []ancestor, server ancestor) *Caller {
	var found *Caller
	for i, a := range line[1:] {
		cmdline, isClaude := a.claude()
		cmdline = f.withoutOurs(cmdline)
		switch {
		case !isClaude:
		case found == nil:
			found = a.caller(cmdline)
			found.doubt = cmp.Or(found.doubt, f.doubtHome(found.env))
			f.name(found, a, line[i+2:])
		default:
			found.narrow(a.caller(cmdline))
		}
	}
	ofTools := slices.ContainsFunc(line, func(a ancestor) bool { return claude.IsOfTools(a.variable) })
	if found == nil && ofTools && !claude.IsOfTools(server.variable) {
		return &Caller{byHand: true, doubt: errors.New("its process is no longer above the command")}
	}
	return found
}

// name gives the claude of a turn the name and the depth of the agent that asked for the turn: the turn's request,
// which has the user's seal, contains them. The claude's environment names the attempt at the turn. The process that
// runs the attempt must be above the claude.
func (f finder) name(c *Caller, a ancestor, above []ancestor) {
	attempt := agent.Invocation(a.variable(agent.TurnVariable))
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
		runs := func(a ancestor) bool { return a.PID == start.Runner.PID && f.project.Machine.IsAlive(start.Runner) }
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
func (f finder) withoutOurs(cmdline []string) []string {
	if len(cmdline) == 0 {
		return cmdline
	}
	closed := observe.Closed(f.project.Store)
	extra, isTurn := turn.Extra(cmdline[1:], []string{turn.Settings(closed, false), turn.Settings(closed, true)})
	if !isTurn {
		return cmdline
	}
	return append(cmdline[:1:1], extra...)
}

// claude returns the command line of an ancestor that is a claude: by its name, or because it is in the registry of
// its configuration.
func (a ancestor) claude() (cmdline []string, isClaude bool) {
	if claude.IsClaude(a.cmdline) || claude.IsBackground(a.cmdline) {
		return a.cmdline, true
	}
	config, err := claude.ConfigUsedBy(a.cwd, a.variable)
	if err != nil {
		return a.cmdline, false
	}
	entry, err := config.Registry().Entry(a.PID)
	return a.cmdline, err == nil && a.StartTicks != 0 && entry.StartTicks == a.StartTicks
}

// caller describes a claude without a record by its command line, folder and environment.
func (a ancestor) caller(cmdline []string) *Caller {
	launched := claude.ReadLaunch(cmdline)
	c := &Caller{byHand: true, project: a.cwd, env: a.env, doubt: a.unseen}
	c.record = agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Cwd: a.cwd, ConfigDir: claude.ConfigDirIn(a.cwd, a.variable(claude.ConfigDirVariable)),
			PermissionMode: agent.PermissionMode(cmp.Or(launched.PermissionMode, "default")), ClaudeArgs: launched.Extra,
		},
		Process: &agent.Process{Identity: a.Identity},
	}
	if roots := rootsOf([]ancestor{a}); len(roots) > 0 {
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
