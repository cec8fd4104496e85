package supervisor

import (
	"fmt"
	"maps"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/trust"
)

// An agent never gives more than it has. What it has is in its record: permission mode,
// arguments, environment, configuration, folder, project. A person, and an agent that a person
// has spawned with --may-manage, may give what they like.

// CheckPerson refuses what an agent may never do, whatever its record says. what is said as
// in "allow what a record runs". Errors: Held when an agent calls.
func (s *Supervisor) CheckPerson(what string) error {
	c, err := s.calling()
	if c == nil || err != nil {
		return err
	}
	return agent.Errorf(agent.Held, "to %s is for a person, and %s called this", what, c).
		Hint("a person does it in a terminal of their own")
}

func (c *calling) String() string {
	switch {
	case c.byHand && c.record.Process == nil:
		return "a claude that was started by hand"
	case c.byHand:
		return fmt.Sprintf("a claude that was started by hand (pid %d)", c.record.Process.PID)
	case c.record.Handle == "":
		return "an agent"
	}
	return "agent " + string(c.record.Handle)
}

// denied is the refusal of what an agent may do only when it may manage.
func (c *calling) denied(what string) *agent.Error {
	return agent.Errorf(agent.Held, "%s called this, and %s needs --may-manage, which it does not have", c, what).
		Hint("a person can do it; or give a team an agent that may: nbs-worker spawn NAME --may-manage")
}

// checkKnown refuses to do anything for an agent of which is not known what it has.
func (c *calling) checkKnown() error {
	if c.doubt == nil {
		return nil
	}
	denied := agent.Errorf(agent.Held, "%s called this, and what it may is not known: %s", c, c.doubt.Error())
	denied.Hints = agent.HintsOf(c.doubt)
	if len(denied.Hints) == 0 {
		return denied.Hint("a person can do it, in a terminal of their own")
	}
	return denied
}

// Confinement is the environment in which a command of an agent's is to work: the one with
// which the agent itself was started, since an agent may write another in front of a command,
// and what is started gets it. nil for a person, and for an agent that may manage.
func (s *Supervisor) Confinement() ([]string, error) {
	c, err := s.calling()
	if c == nil || err != nil || c.manages() {
		return nil, err
	}
	return slices.Clone(c.env), nil
}

// bestowed completes what an agent asks for a colleague with what it has itself, and refuses
// what is more.
func (s *Supervisor) bestowed(spawn Spawn) (Spawn, error) {
	c, err := s.calling()
	if err != nil {
		return spawn, err
	}
	if c == nil {
		if spawn.PermissionMode == "" {
			spawn.PermissionMode = spawn.UsualMode
		}
		return spawn, nil
	}
	if err := c.checkKnown(); err != nil {
		return spawn, err
	}
	if spawn.PermissionMode == "" {
		spawn.PermissionMode = c.mode()
	}
	if err := s.checkLimits(c, 1); err != nil {
		return spawn, err
	}
	spawn.depth = c.record.Depth + 1
	if c.manages() {
		return spawn, nil
	}
	for _, more := range []struct {
		asked bool
		what  string
	}{
		{len(spawn.Env) > 0, "--env"},
		{len(spawn.ClaudeArgs) > 0, "an argument for claude"},
		{spawn.SessionID != "", "--session-id"},
		{spawn.MayManage, "to give --may-manage"},
	} {
		if more.asked {
			return spawn, c.denied(more.what)
		}
	}
	if err := c.checkWords(spawn.Start); err != nil {
		return spawn, err
	}
	// In another folder, inside its own too, arguments with relative paths mean other files, and
	// Claude finds other settings.
	if own := c.record.LaunchCwd(); spawn.Cwd != "" && observe.RealPath(spawn.Cwd) != observe.RealPath(own) {
		return spawn, c.denied("an agent in another folder than its own, " + agent.Quote(own) + ",")
	}
	spawn.Cwd = c.record.LaunchCwd()
	spawn.Env, spawn.ClaudeArgs = maps.Clone(c.record.Env), slices.Clone(c.record.ClaudeArgs)
	spawn.configDir = &c.record.ConfigDir
	asked := agent.Record{Spec: agent.Spec{
		PermissionMode: spawn.PermissionMode, Cwd: spawn.Cwd, ProjectRoot: s.Store.Project(), ConfigDir: c.record.ConfigDir,
		Env: spawn.Env, ClaudeArgs: spawn.ClaudeArgs,
	}}
	return spawn, s.checkReach(c, &asked)
}

// CheckWords refuses the words of a start that give more than the caller has. It is for who is
// about to read a prompt file: what is in it, and whether it is there, is not told to an agent.
func (s *Supervisor) CheckWords(start Start) error {
	c, err := s.calling()
	if c == nil || err != nil || c.manages() {
		return err
	}
	return c.checkWords(start)
}

// checkWords is CheckWords for a caller that does not manage. Claude takes the prompt of a start
// for a user's own words, and does for a user what it would ask about, or refuse, an agent.
func (c *calling) checkWords(start Start) error {
	switch {
	case start.Trust:
		return c.denied("--trust")
	case start.PromptFile != "":
		return c.denied("--prompt-file").Hint("or pipe it, if you may read it: --prompt-file - <%s", agent.ShellWord(start.PromptFile))
	case claude.IsCommand(start.Prompt):
		return c.denied("a prompt that is a command of Claude's").Hint("or give words that are meant for the model")
	case claude.NamesFile(start.Prompt):
		return c.denied("a prompt that names a file by @").Hint("or write the name without @; its claude reads the file when it may")
	}
	return nil
}

// checkReach refuses a colleague that has more than the caller.
func (s *Supervisor) checkReach(c *calling, r *agent.Record) error {
	has := &c.record
	switch mode := r.LaunchPermissionMode(); {
	case !observe.SameFolder(c.project, s.Store.Project()):
		return c.denied("an agent of another project")
	case !mode.Within(c.mode()):
		return c.denied("an agent with the permission mode " + string(mode) + ", wider than its own, " + string(c.mode()) + ",")
	case r.MayManage:
		return c.denied("an agent that may manage")
	case !slices.Equal(r.ClaudeArgs, has.ClaudeArgs):
		return c.denied("an agent with other arguments for claude than its own")
	case !maps.Equal(r.Env, has.Env):
		return c.denied("an agent with other variables than its own")
	case r.ConfigDir != has.ConfigDir:
		return c.denied("an agent with another configuration of Claude than its own")
	case !observe.Inside(r.LaunchCwd(), has.LaunchCwd()):
		return c.denied("an agent outside of its folder " + agent.Quote(has.LaunchCwd()))
	}
	return nil
}

// checkLimits refuses more agents than a team may have by itself. more are those to come.
func (s *Supervisor) checkLimits(c *calling, more int) error {
	limits, err := s.Store.Home().Limits()
	if err != nil {
		return err
	}
	var handles []agent.Handle
	if s.Store.Exists() {
		if handles, err = s.Store.Handles(); err != nil {
			return err
		}
	}
	full := ""
	switch {
	case c.record.Depth+1 > limits.Depth:
		full = fmt.Sprintf("its colleague would be %d agents away from a person, and %d is the limit", c.record.Depth+1, limits.Depth)
	case len(handles)+more > limits.Agents:
		full = fmt.Sprintf("the project has the %d agents that agents may fill it with", limits.Agents)
	default:
		return nil
	}
	return agent.Errorf(agent.Held, "%s called this, and %s", c, full).
		Hint("a person can start it all the same, or set another limit: %s", setLimits(s.Store.Home(), limits))
}

// checkCrowd looks again when the record is there: of many agents that spawn at one time each
// has seen the project before the others.
func (s *Supervisor) checkCrowd() error {
	c, err := s.calling()
	if c == nil || err != nil {
		return err
	}
	return s.checkLimits(c, 0)
}

// setLimits is the command by which a person sets limits.
func setLimits(home trust.Home, limits trust.Limits) string {
	text := fmt.Sprintf(`{"agents": %d, "depth": %d}`, limits.Agents, limits.Depth)
	return "echo " + agent.ShellWord(text) + " >" + agent.ShellWord(home.LimitsPath())
}

// checkResume refuses to an agent to bring back a colleague that has more than itself, or to
// bring it back with more.
func (s *Supervisor) checkResume(r *agent.Record, resume Resume) error {
	c, err := s.calling()
	if c == nil || err != nil {
		return err
	}
	if err := c.checkKnown(); err != nil || c.manages() {
		return err
	}
	switch {
	case resume.Force && !c.is(s.Store.Project(), r.Handle):
		return c.denied("--force on another agent")
	case resume.Fresh:
		return c.denied("--fresh")
	case resume.SessionID != "":
		return c.denied("--session-id")
	case resume.Cwd != "" && observe.RealPath(resume.Cwd) != observe.RealPath(r.LaunchCwd()):
		return c.denied("an agent in another folder than the recorded one, " + agent.Quote(r.LaunchCwd()) + ",")
	}
	if err := c.checkWords(resume.Start); err != nil {
		return err
	}
	return s.checkReach(c, r)
}

// checkEnd refuses to an agent to end what may more than itself, and to remove what is another's.
func (s *Supervisor) checkEnd(r *agent.Record, remove bool) error {
	c, err := s.calling()
	if c == nil || err != nil || c.manages() || c.is(s.Store.Project(), r.Handle) {
		return err
	}
	if err := c.checkKnown(); err != nil {
		return err
	}
	switch {
	case remove:
		return c.denied("to dismiss another agent")
	case !observe.SameFolder(c.project, s.Store.Project()):
		return c.denied("to stop an agent of another project")
	case r.MayManage || !r.LaunchPermissionMode().Within(c.mode()):
		return c.denied("to stop an agent that may do more than itself")
	}
	return nil
}

// checkAdopt refuses to an agent to take what a person has started.
func (s *Supervisor) checkAdopt() error {
	c, err := s.calling()
	if c == nil || err != nil || c.manages() {
		return err
	}
	return c.denied("to adopt a claude")
}
