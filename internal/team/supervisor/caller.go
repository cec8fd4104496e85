package supervisor

import (
	"cmp"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/caller"
	"nbs-worker/internal/team/launch"
)

// caller finds the caller, once; nil for a person.
func (s *Supervisor) caller() (*caller.Caller, error) {
	s.looked.Do(func() { s.found, s.lookErr = caller.Find(s.Project) })
	return s.found, s.lookErr
}

// mayCaller checks whether the caller may do something.
func (s *Supervisor) mayCaller(check func(*caller.Caller) error) error {
	c, err := s.caller()
	if err != nil {
		return err
	}
	return check(c)
}

// Check calls [caller.Caller.Check] for the caller.
func (s *Supervisor) Check(rule caller.Rule) error {
	return s.mayCaller(func(c *caller.Caller) error { return c.Check(rule) })
}

// CheckPerson calls [caller.Caller.CheckPerson] for the caller.
func (s *Supervisor) CheckPerson(what string) error {
	return s.mayCaller(func(c *caller.Caller) error { return c.CheckPerson(what) })
}

// CheckWords calls [caller.Caller.CheckWords] for the caller.
func (s *Supervisor) CheckWords(start launch.Start) error {
	return s.mayCaller(func(c *caller.Caller) error { return c.CheckWords(wordsOf(start)) })
}

// granted returns a resume within the caller's rights. Its prompt names its author.
func (s *Supervisor) granted(r *agent.Record, resume Resume) (Resume, error) {
	asked := caller.Return{Force: resume.Force, Fresh: resume.Fresh, Cwd: resume.Cwd, SessionID: resume.SessionID, Words: wordsOf(resume.Start)}
	c, err := s.caller()
	if err == nil {
		err = c.CheckResume(&r.Spec, asked)
	}
	if begins := resume.Fresh && resume.Prompt == r.InitialPrompt; !begins { // the recorded prompt is already signed, or a person's
		resume.Prompt = c.Signed(resume.Prompt)
	}
	return resume, err
}

// Turn calls [caller.Caller.Turn] for the caller, with the caller's name.
func (s *Supervisor) Turn(timeout time.Duration) (*conversations.Powers, error) {
	c, err := s.caller()
	if err != nil {
		return nil, err
	}
	has, err := c.Turn(timeout)
	if has == nil || err != nil {
		return nil, err
	}
	return &conversations.Powers{
		Agent: c.String(), Handle: has.Handle, Depth: has.Depth, PermissionMode: has.PermissionMode, ClaudeArgs: has.ClaudeArgs, Env: has.Env, Cwd: has.Cwd, ConfigDir: has.ConfigDir,
	}, nil
}

// Key calls [caller.Caller.Key] for the caller.
func (s *Supervisor) Key(named string) (conversations.Key, error) {
	c, err := s.caller()
	if err == nil {
		named, err = c.Key(named)
	}
	if err != nil {
		return "", err
	}
	return conversations.ParseKey(named)
}

// From returns the beginning of a text from the caller if there is no room for an envelope: "[from agent NAME] "; ""
// for a person.
func (s *Supervisor) From() (string, error) {
	c, err := s.caller()
	if c == nil {
		return "", err
	}
	return "[from " + c.String() + "] ", err
}

// Sees calls [caller.Caller.Sees] for the caller.
func (s *Supervisor) Sees(key conversations.Key) bool {
	c, err := s.caller()
	return err == nil && c.Sees(string(key))
}

// Confinement calls [caller.Caller.Confinement] for the caller.
func (s *Supervisor) Confinement() ([]string, error) {
	c, err := s.caller()
	return c.Confinement(), err
}

// withCallersLimits completes the configuration of a new agent with what the caller has, and refuses anything beyond
// the caller's limits.
func (s *Supervisor) withCallersLimits(spawn Spawn) (agent.Spec, error) {
	spec := spawn.Spec
	spec.Schema, spec.ProjectRoot, spec.InitialPrompt = agent.Schema, s.Project.Store.Project(), cmp.Or(spawn.Prompt, spec.InitialPrompt)
	spec.Restart.Policy = spec.LaunchRestart()
	c, err := s.caller()
	if err != nil {
		return spec, err
	}
	bound := false
	if c == nil {
		spec.PermissionMode, spec.Depth = cmp.Or(spec.PermissionMode, spawn.UsualMode), 0
	} else if spec, bound, err = c.Bestow(spec, wordsOf(spawn.Start)); err != nil {
		return spec, err
	}
	if !bound && spec.ConfigDir == "" {
		spec.ConfigDir, err = s.Project.CallersConfigDir()
	}
	spec.InitialPrompt = c.Signed(spec.InitialPrompt)
	return spec, err
}

func wordsOf(s launch.Start) caller.Words {
	return caller.Words{Prompt: s.Prompt, PromptFile: s.PromptFile, Trust: s.Trust}
}
