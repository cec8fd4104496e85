package caller

import (
	"fmt"
	"maps"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/team/launch"
)

// Return says what a caller wants from a resume.
type Return struct {
	Force, Fresh bool
	Cwd          string          // "" for the recorded one
	SessionID    agent.SessionID // "" for the present one
	launch.Start
}

// CheckPerson refuses what an agent may never do, whatever its record says. The error says "only a person may
// <what>". Errors: Held if an agent calls.
func (c *Caller) CheckPerson(what string) error {
	if c == nil {
		return nil
	}
	return fail.Errorf(fail.Held, "only a person may %s; %s called this", what, c).
		Hint("a person can do it, in a terminal of their own")
}

func (c *Caller) String() string {
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

// denied returns the error for what an agent may do only with --may-manage.
func (c *Caller) denied(what string) *fail.Error {
	return fail.Errorf(fail.Held, "%s called this, and %s needs --may-manage, which it does not have", c, what).
		Hint("a person can do it, or start an agent that may: nbs-worker spawn NAME --may-manage")
}

// checkKnown refuses everything to an agent if it is unknown what the agent has.
func (c *Caller) checkKnown() error {
	if c.doubt == nil {
		return nil
	}
	denied := fail.Errorf(fail.Held, "cannot determine what %s is allowed to do: %s", c, c.doubt.Error())
	denied.Hints = fail.HintsOf(c.doubt)
	if len(denied.Hints) == 0 {
		return denied.Hint("a person can do it, in a terminal of their own")
	}
	return denied
}

// Confinement returns the environment in which an agent's command must work: the one with which the agent itself was
// started. An agent can set variables for its command, and every program that the command starts would get them. nil
// for a person, and for an agent that may manage.
func (c *Caller) Confinement() []string {
	if c == nil || c.manages() {
		return nil
	}
	return slices.Clone(c.env)
}

// Bestow completes the spec of a new agent with what the caller itself has, and refuses anything more. bound is true
// if the new agent gets the caller's folder, variables, arguments, settings and configuration, and nothing else. Errors: Held.
func (c *Caller) Bestow(asked agent.Spec, start launch.Start) (given agent.Spec, bound bool, err error) {
	if err := c.checkKnown(); err != nil {
		return asked, false, err
	}
	if asked.PermissionMode == "" {
		asked.PermissionMode = c.mode()
	}
	if err := c.checkLimits(1); err != nil {
		return asked, false, err
	}
	asked.Depth = c.record.Depth + 1
	if c.manages() {
		return asked, false, nil
	}
	for _, more := range []struct {
		asked bool
		what  string
	}{
		{len(asked.Env) > 0, "--env"},
		{len(asked.ClaudeArgs) > 0, "an argument for claude"},
		{asked.Settings != "", "--settings"},
		{asked.SessionID != "", "--session-id"},
		{asked.MayManage, "to give --may-manage"},
	} {
		if more.asked {
			return asked, false, c.denied(more.what)
		}
	}
	if err := c.checkWords(start); err != nil {
		return asked, false, err
	}
	// In another folder, even inside its own, arguments with relative paths name other files, and
	// Claude reads other settings.
	if own := c.record.LaunchCwd(); asked.Cwd != "" && folder.Real(asked.Cwd) != folder.Real(own) {
		return asked, false, c.denied("an agent in another folder than its own, " + human.Quote(own) + ",")
	}
	asked.Cwd, asked.ConfigDir = c.record.LaunchCwd(), c.record.ConfigDir
	asked.Env, asked.ClaudeArgs = maps.Clone(c.record.Env), slices.Clone(c.record.ClaudeArgs)
	asked.Settings = c.record.Settings
	return asked, true, c.checkReach(&asked)
}

// CheckWords refuses a prompt or a trust that gives more than the caller has. It is called before a prompt file is
// read: an agent must not learn what is in the file, or whether it exists.
func (c *Caller) CheckWords(start launch.Start) error {
	if c == nil || c.manages() {
		return nil
	}
	return c.checkWords(start)
}

// checkWords is CheckWords for a caller that does not manage. Claude takes the prompt of a start for the user's own
// words, and does for a user what it would refuse an agent or ask about.
func (c *Caller) checkWords(start launch.Start) error {
	switch {
	case start.Trust:
		return c.denied("--trust")
	case start.PromptFile != "":
		return c.denied("--prompt-file").Hint("or pipe it, if you may read it: --prompt-file - <%s", human.ShellWord(start.PromptFile))
	case claude.IsCommand(start.Prompt):
		return c.denied("a prompt that is one of Claude's own commands").Hint("or give a prompt for the model")
	case claude.NamesFile(start.Prompt):
		return c.denied("a prompt that names a file by @").Hint("or write the name without @; the new agent then reads the file if it may")
	}
	return nil
}

// checkReach refuses a new agent that has more than the caller.
func (c *Caller) checkReach(r *agent.Spec) error {
	has := &c.record
	switch mode := r.LaunchPermissionMode(); {
	case !folder.Same(c.project, c.at.Store.Project()):
		return c.denied("an agent of another project")
	case !mode.Within(c.mode()):
		return c.denied("an agent with the permission mode " + string(mode) + ", which is wider than its own, " + string(c.mode()) + ",")
	case r.MayManage:
		return c.denied("an agent that may manage")
	case !slices.Equal(r.ClaudeArgs, has.ClaudeArgs):
		return c.denied("an agent with other arguments for claude than its own")
	case r.Settings != has.Settings:
		return c.denied("an agent with other settings than its own")
	case !maps.Equal(r.Env, has.Env):
		return c.denied("an agent with other variables than its own")
	case r.ConfigDir != has.ConfigDir:
		return c.denied("an agent with another configuration of Claude than its own")
	case !folder.Contains(has.LaunchCwd(), r.LaunchCwd()):
		return c.denied("an agent outside of its folder " + human.Quote(has.LaunchCwd()))
	}
	return nil
}

// checkLimits refuses a start beyond the limits for agents that agents start. more is the number of agents to add.
func (c *Caller) checkLimits(more int) error {
	limits, err := c.at.Store.Home().Limits()
	if err != nil {
		return err
	}
	var handles []agent.Handle
	if c.at.Store.Exists() {
		if handles, err = c.at.Store.Handles(); err != nil {
			return err
		}
	}
	full := ""
	switch {
	case c.record.Depth+1 > limits.Depth:
		full = fmt.Sprintf("the new agent would be %d agents away from a person; the limit is %d", c.record.Depth+1, limits.Depth)
	case len(handles)+more > limits.Agents:
		full = fmt.Sprintf("the project has reached its limit of %d agents", limits.Agents)
	default:
		return nil
	}
	return fail.Errorf(fail.Held, "%s called this, and %s", c, full).
		Hint("a person can start it, or set another limit: %s", c.at.Store.Home().SetLimits(limits))
}

// CheckCrowd checks the limits again when the new record is written: agents that spawn at the same time do not see
// each other's records before.
func (c *Caller) CheckCrowd() error {
	if c == nil {
		return nil
	}
	return c.checkLimits(0)
}

// CheckResume does not let an agent resume a colleague that has more rights than itself, or give it more.
func (c *Caller) CheckResume(r *agent.Spec, asked Return) error {
	if c == nil {
		return nil
	}
	if err := c.checkKnown(); err != nil || c.manages() {
		return err
	}
	switch {
	case asked.Force && !c.Is(r.Handle):
		return c.denied("--force on another agent")
	case asked.Fresh:
		return c.denied("--fresh")
	case asked.SessionID != "":
		return c.denied("--session-id")
	case asked.Cwd != "" && folder.Real(asked.Cwd) != folder.Real(r.LaunchCwd()):
		return c.denied("an agent in another folder than the recorded one, " + human.Quote(r.LaunchCwd()) + ",")
	}
	if err := c.checkWords(asked.Start); err != nil {
		return err
	}
	return c.checkReach(r)
}

// CheckSet does not let an agent change a colleague that has more rights than itself, or give it more. A budget binds
// agents, and no agent changes one.
func (c *Caller) CheckSet(before, after *agent.Spec) error {
	if c == nil {
		return nil
	}
	if before.Budget != after.Budget {
		return c.CheckPerson("change a budget")
	}
	if err := c.checkKnown(); err != nil || c.manages() {
		return err
	}
	if before.InitialPrompt != after.InitialPrompt {
		if err := c.checkWords(launch.Start{Prompt: after.InitialPrompt}); err != nil {
			return err
		}
	}
	if err := c.CheckAct(before, "change"); err != nil {
		return err
	}
	return c.checkReach(after)
}

// CheckAct does not let an agent act on a colleague that may do more than itself. act names the action, after "to":
// "stop". Errors: Held.
func (c *Caller) CheckAct(r *agent.Spec, act string) error {
	if c == nil || c.manages() || c.Is(r.Handle) {
		return nil
	}
	if err := c.checkKnown(); err != nil {
		return err
	}
	switch {
	case !folder.Same(c.project, c.at.Store.Project()):
		return c.denied("to " + act + " an agent of another project")
	case r.MayManage || !r.LaunchPermissionMode().Within(c.mode()):
		return c.denied("to " + act + " an agent that may do more than itself")
	case !slices.Equal(r.ClaudeArgs, c.record.ClaudeArgs) || !maps.Equal(r.Env, c.record.Env) || r.Settings != c.record.Settings: // which may let it do more
		return c.denied("to " + act + " an agent with other arguments, variables or settings than its own")
	}
	return nil
}

// CheckDismiss does not let an agent dismiss a colleague.
func (c *Caller) CheckDismiss(r *agent.Spec) error {
	if c == nil || c.manages() || c.Is(r.Handle) {
		return nil
	}
	return c.denied("to dismiss another agent")
}
