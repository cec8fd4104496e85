package supervisor

import (
	"cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/caller"
)

// granted returns a resume within the caller's rights. Its prompt names its author.
func (s *Supervisor) granted(r *agent.Record, resume Resume) (Resume, error) {
	err := s.Caller.CheckResume(&r.Spec, caller.Return{
		Force: resume.Force, Fresh: resume.Fresh, Cwd: resume.Cwd, SessionID: resume.SessionID, Start: resume.Start,
	})
	if err == nil {
		err = s.checkRoom(r.Handle, false)
	}
	if begins := resume.Fresh && resume.Prompt == r.InitialPrompt; !begins { // the recorded prompt is already signed, or a person's
		resume.Prompt = s.Caller.Signed(resume.Prompt)
	}
	return resume, err
}

// withCallersLimits completes the configuration of a new agent with what the caller has, and refuses anything beyond
// the caller's limits.
func (s *Supervisor) withCallersLimits(spawn Spawn) (spec agent.Spec, err error) {
	spec = spawn.Spec
	spec.Schema, spec.ProjectRoot, spec.InitialPrompt = agent.Schema, s.Project.Store.Project(), cmp.Or(spawn.Prompt, spec.InitialPrompt)
	spec.Restart.Policy = spec.LaunchRestart()
	bound := false
	if s.Caller == nil {
		spec.PermissionMode, spec.Depth = cmp.Or(spec.PermissionMode, spawn.UsualMode), 0
	} else if spec, bound, err = s.Caller.Bestow(spec, spawn.Start); err != nil {
		return spec, err
	}
	if !bound && spec.ConfigDir == "" {
		spec.ConfigDir, err = s.Project.CallersConfigDir()
	}
	spec.InitialPrompt = s.Caller.Signed(spec.InitialPrompt)
	return spec, err
}
