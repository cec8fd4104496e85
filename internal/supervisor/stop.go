package supervisor

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
)

// Stopped is what a stop or a dismissal led to.
type Stopped struct {
	Record agent.Record
	Was    agent.Status // what the agent was doing before
}

// Stop ends an agent and keeps its record. That it is to be stopped is written down
// before the first signal, so that nothing starts it again in between.
func (s *Supervisor) Stop(ctx context.Context, handle agent.Handle) (Stopped, error) {
	unlock, err := s.Store.LockVerb(handle, "stop", s.now())
	if err != nil {
		return Stopped{}, err
	}
	defer unlock()
	stopped, err := s.stop(context.WithoutCancel(ctx), handle)
	if err != nil {
		return stopped, err
	}
	return stopped, s.journal("stop", &stopped.Record, stopped.Was.Word())
}

// Dismiss ends an agent and removes its record. The journal keeps the session id.
func (s *Supervisor) Dismiss(ctx context.Context, handle agent.Handle) (Stopped, error) {
	unlock, err := s.Store.LockVerb(handle, "dismiss", s.now())
	if err != nil {
		return Stopped{}, err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx) // what was begun is ended, whatever the caller does
	stopped, err := s.stop(ctx, handle)
	if err != nil {
		return stopped, err
	}
	if err := s.journal("dismiss", &stopped.Record, stopped.Was.Word()); err != nil {
		return stopped, err
	}
	return stopped, s.Store.Remove(ctx, handle)
}

func (s *Supervisor) stop(ctx context.Context, handle agent.Handle) (Stopped, error) {
	r, err := s.Store.Load(handle)
	if err != nil {
		return Stopped{}, err
	}
	// A tmux that does not answer keeps nobody from being ended; end says it then.
	_, panes, _ := s.panes(ctx, &r)
	if err := s.checkSelf(&r, panes); err != nil {
		return Stopped{}, err
	}
	was := s.status(&r, panes)
	r, err = s.Store.Update(ctx, handle, func(r *agent.Record) error {
		r.Desired = agent.DesiredStopped
		s.follow(r)
		config, err := claude.ConfigOf(r, s.Env)
		if err == nil {
			noteTranscript(r, config, s.now())
		}
		return err
	})
	if err != nil {
		return Stopped{}, err
	}
	if err := s.Store.DropLaunch(handle); err != nil {
		return Stopped{}, err
	}
	return Stopped{Record: r, Was: was}, s.end(ctx, r)
}
