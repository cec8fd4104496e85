package supervisor

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// ForkOf returns the spawn of an agent that begins with a copy of the present conversation of another one, and has the
// configuration of that one, without its worktree. Claude makes the copy when the new agent starts, and only reads the
// conversation, so the other agent may run. Errors: NotFound if it has said nothing yet.
func (s *Supervisor) ForkOf(ctx context.Context, handle, forked agent.Handle) (Spawn, error) {
	if err := s.Caller.CheckPerson("copy a conversation for another agent"); err != nil {
		return Spawn{}, err
	}
	r, err := s.Project.Store.Load(handle)
	if err != nil {
		return Spawn{}, err
	}
	if err := s.Project.Store.CheckSeal(&r); err != nil {
		return Spawn{}, err
	}
	r = s.Project.LookAt(ctx, r).Record
	s.follow(&r)
	config, err := s.Project.ConfigOf(&r)
	if err != nil {
		return Spawn{}, err
	}
	file, there, err := config.Transcript(r.SessionID)
	if err == nil && there {
		there, err = file.HasMessagesAfter(0)
	}
	if err != nil {
		return Spawn{}, err
	}
	if !there {
		return Spawn{}, fail.Errorf(fail.NotFound, "its conversation has no transcript yet, or no longer").
			Hint("if the transcript was deleted, resume restores it: nbs-worker resume %s", r.Handle)
	}
	spec := r.Spec
	spec.Handle, spec.SessionID, spec.ForkOf = forked, "", r.SessionID
	spec.Cwd = r.LaunchCwd() // claude 2.1.197 finds the conversation only from there
	spec.PermissionMode = r.LaunchPermissionMode()
	spec.PreviousSessions, spec.InitialPrompt, spec.OwnWorktree = nil, "", agent.OwnWorktree{}
	return Spawn{Spec: spec}, nil
}
