package supervisor

import (
	"context"
	"errors"

	"nbs-worker/internal/agent"
)

// Stopped is what a stop or a dismissal led to.
type Stopped struct {
	Record agent.Record
	Was    agent.Status // what the agent was doing before
	Kept   []string     // paths of the transcripts that stay in .nbs, of a dismissal
	Unkept error        // why a transcript could not be kept, or removed
}

// Stop ends an agent and keeps its record. That it is to be stopped is written down
// before the first signal, so that nothing starts it again in between.
func (s *Supervisor) Stop(ctx context.Context, handle agent.Handle) (Stopped, error) {
	unlock, err := s.Store.LockVerb(handle, "stop", s.now())
	if err != nil {
		return Stopped{}, err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx) // what was begun is ended, whatever the caller does
	stopped, err := s.stop(ctx, handle)
	if err != nil {
		return stopped, err
	}
	stopped.Unkept = s.keep(ctx, &stopped.Record) // its launcher may have been killed before it could
	return stopped, s.journal(ctx, "stop", &stopped.Record, stopped.Was.Word())
}

// Dismiss ends an agent and removes its record, and what .nbs keeps of its conversations
// unless that is to stay. The journal keeps the session id.
func (s *Supervisor) Dismiss(ctx context.Context, handle agent.Handle, keep bool) (Stopped, error) {
	unlock, err := s.Store.LockVerb(handle, "dismiss", s.now())
	if err != nil {
		return Stopped{}, err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx)
	stopped, err := s.stop(ctx, handle)
	if err != nil {
		return stopped, err
	}
	if keep {
		stopped.Unkept = s.keep(ctx, &stopped.Record)
	}
	if err := s.journal(ctx, "dismiss", &stopped.Record, stopped.Was.Word()); err != nil {
		return stopped, err
	}
	if err := s.Store.Remove(ctx, handle); err != nil {
		return stopped, err
	}
	_ = s.Store.RemoveReport(handle) // it is of nobody now; doctor finds one that stays
	if keep {
		stopped.Kept = s.keptPaths(&stopped.Record)
	} else {
		stopped.Kept, stopped.Unkept = s.discard(&stopped.Record)
	}
	return stopped, nil
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
	// Written before the first signal; where it cannot be, the agent is ended all the
	// same: a full disk must not keep the one alive that fills it.
	written, err := s.update(ctx, handle, func(r *agent.Record) error {
		r.Desired = agent.DesiredStopped
		s.follow(r)
		config, err := s.configOf(r)
		if err == nil {
			noteTranscript(r, config, s.now())
		}
		return err
	})
	if err == nil {
		r = written
	} else {
		err = s.tellMove(r, err)
	}
	// A launcher on its way finds nothing to launch, or ends at the record that it may not.
	dropped := s.Store.DropLaunch(handle)
	return Stopped{Record: r, Was: was}, errors.Join(err, dropped, s.end(ctx, r))
}

// tellMove says of an agent that is ended where it has gone by itself, when that could not be
// written into its record: with its end nobody else would know.
func (s *Supervisor) tellMove(r agent.Record, unwritten error) error {
	from := r.SessionID
	if s.follow(&r); r.SessionID == from {
		return unwritten
	}
	return agent.Errorf(agent.KindOf(unwritten), "%w", unwritten).
		Hint("note where it was last, its record has the conversation before: %s", r.SessionID).
		Hint("to take that one up, with room again: nbs-worker spawn HANDLE --session-id %s", r.SessionID)
}
