package supervisor

import (
	"cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/caller"
	"nbs-worker/internal/launch"
)

// caller finds who calls, once; nil for a person.
func (s *Supervisor) caller() (*caller.Caller, error) {
	s.looked.Do(func() { s.found, s.lookErr = caller.Find(&s.Observer) })
	return s.found, s.lookErr
}

// mayCaller asks whether the caller may do something.
func (s *Supervisor) mayCaller(check func(*caller.Caller) error) error {
	c, err := s.caller()
	if err != nil {
		return err
	}
	return check(c)
}

// CheckPerson is [caller.Caller.CheckPerson] of who calls.
func (s *Supervisor) CheckPerson(what string) error {
	return s.mayCaller(func(c *caller.Caller) error { return c.CheckPerson(what) })
}

// CheckWords is [caller.Caller.CheckWords] of who calls.
func (s *Supervisor) CheckWords(start launch.Start) error {
	return s.mayCaller(func(c *caller.Caller) error { return c.CheckWords(wordsOf(start)) })
}

func (s *Supervisor) checkResume(r *agent.Record, resume Resume) error {
	asked := caller.Return{Force: resume.Force, Fresh: resume.Fresh, Cwd: resume.Cwd, SessionID: resume.SessionID, Words: wordsOf(resume.Start)}
	return s.mayCaller(func(c *caller.Caller) error { return c.CheckResume(&r.Spec, asked) })
}

// Confinement is [caller.Caller.Confinement] of who calls.
func (s *Supervisor) Confinement() ([]string, error) {
	c, err := s.caller()
	return c.Confinement(), err
}

// bestowed completes what is asked for a new agent with what the caller has, and refuses anything
// beyond that.
func (s *Supervisor) bestowed(spawn Spawn) (Spawn, error) {
	c, err := s.caller()
	if err != nil {
		return spawn, err
	}
	if c == nil {
		spawn.PermissionMode = cmp.Or(spawn.PermissionMode, spawn.UsualMode)
		return spawn, nil
	}
	given, bound, err := c.Bestow(agent.Spec{
		PermissionMode: spawn.PermissionMode, MayManage: spawn.MayManage, Cwd: spawn.Cwd, Env: spawn.Env, ClaudeArgs: spawn.ClaudeArgs,
		SessionID: spawn.SessionID, ProjectRoot: s.Store.Project(),
	}, wordsOf(spawn.Start))
	spawn.PermissionMode, spawn.Cwd, spawn.Env, spawn.ClaudeArgs, spawn.depth = given.PermissionMode, given.Cwd, given.Env, given.ClaudeArgs, given.Depth
	if bound {
		spawn.configDir = &given.ConfigDir
	}
	return spawn, err
}

func wordsOf(s launch.Start) caller.Words {
	return caller.Words{Prompt: s.Prompt, PromptFile: s.PromptFile, Trust: s.Trust}
}
