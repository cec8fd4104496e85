package supervisor

import (
	"context"
	"errors"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/caller"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/teardown"
)

// Stopped is what a stop or a dismissal led to.
type Stopped struct {
	Record  agent.Record
	Was     agent.Status // what the agent was doing before
	Unsaved string       // why what was said last may not be in its transcript; "": it is there
	Kept    []string     // paths of the transcripts that stay in the archive, of a dismissal
	Unkept  error        // why a transcript could not be kept, or removed
	Dropped int          // messages of its outbox, of a dismissal; the journal has them
}

// Stop ends an agent and keeps its record. That it is to be stopped is written down
// before the first signal, so that nothing starts it again in between.
func (s *Supervisor) Stop(ctx context.Context, handle agent.Handle) (Stopped, error) {
	unlock, err := s.awaitVerb(ctx, handle, "stop")
	if err != nil {
		return Stopped{}, err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx) // what was begun is ended, whatever the caller does
	stopped, err := s.stop(ctx, handle, false)
	if err != nil {
		return stopped, err
	}
	stopped.Unkept = s.Keep(ctx, &stopped.Record) // its launcher may have been killed before it could
	if err := s.Note(ctx, "stop", &stopped.Record, "was "+stopped.Was.Word()); err != nil {
		return stopped, doneAllTheSame(err, "it was ended and marked as stopped, but the journal does not say so")
	}
	return stopped, nil
}

// Dismiss ends an agent and removes its record, and what the archive keeps of its conversations
// unless that is to stay. The journal keeps the session id.
func (s *Supervisor) Dismiss(ctx context.Context, handle agent.Handle, keep bool) (Stopped, error) {
	unlock, err := s.awaitVerb(ctx, handle, "dismiss")
	if err != nil {
		return Stopped{}, err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx)
	stopped, err := s.stop(ctx, handle, true)
	if err != nil {
		return stopped, err
	}
	if keep {
		stopped.Unkept = s.Keep(ctx, &stopped.Record)
	}
	if stopped.Dropped, err = s.dropOutbox(ctx, &stopped.Record); err != nil {
		return stopped, doneAllTheSame(err, "it was ended, and its record stays: the messages in its outbox could not be written down and removed")
	}
	if err := s.Note(ctx, "dismiss", &stopped.Record, "was "+stopped.Was.Word()); err != nil {
		return stopped, doneAllTheSame(err, "it was ended, and its record stays: the journal could not take its session id")
	}
	if err := s.Store.Remove(ctx, handle); err != nil {
		return stopped, doneAllTheSame(err, "it was ended, but its record could not be removed")
	}
	_ = s.Store.RemoveReport(handle)        // the report is of nobody now; doctor finds one that stays
	_ = s.Store.Outbox(handle).ForgetLeft() // the same
	_ = s.Store.Runs().DropAttempt(handle)  // the same; it is of a conversation that no other agent has
	if keep {
		stopped.Kept = s.KeptPaths(&stopped.Record)
	} else {
		stopped.Kept, stopped.Unkept = s.Discard(&stopped.Record)
	}
	return stopped, nil
}

// doneAllTheSame says of a failure what was done all the same.
func doneAllTheSame(err error, done string) error {
	return fail.Errorf(fail.KindOf(err), "%s: %w", done, err)
}

// stop refuses what it may not do before anything is written, and writes before the first
// signal. Where that cannot be done, the agent is ended all the same: a full disk must not
// keep the one alive that fills it.
func (s *Supervisor) stop(ctx context.Context, handle agent.Handle, remove bool) (Stopped, error) {
	r, err := s.Store.Load(handle)
	if err != nil {
		return Stopped{}, err
	}
	if remove {
		err = s.mayCaller(func(c *caller.Caller) error { return c.CheckDismiss(&r.Spec) })
	} else {
		err = s.CheckAct(&r, "stop")
	}
	if err != nil {
		return Stopped{}, err
	}
	sight := s.LookClosely(ctx, []agent.Record{r})[0] // the agent is ended although tmux does not answer; teardown.End reports that
	r = sight.Record
	if err := teardown.CheckSelf(&s.Observer, &r, sight.Pane); err != nil {
		return Stopped{}, err
	}
	if err := teardown.CheckEndable(ctx, &s.Observer, &r); err != nil {
		return Stopped{}, err
	}
	written, unwritten := s.update(ctx, handle, func(r *agent.Record) error {
		r.Desired = agent.DesiredStopped
		s.follow(r)
		config, err := s.ConfigOf(r)
		if err == nil {
			observe.NoteTranscript(r, config, s.Seconds())
		}
		return err
	})
	if unwritten == nil {
		r = written
	} else {
		unwritten = s.tellMove(r, unwritten) // once it has ended, nothing shows the move
	}
	// A launcher that is just coming up finds no launch file, or reads in the record that it must not start.
	dropped := s.Store.DropLaunch(handle)
	if err := teardown.End(ctx, &s.Observer, r); err != nil {
		return Stopped{}, errors.Join(err, unwritten, dropped)
	}
	stopped := Stopped{Record: r, Was: sight.Status, Unsaved: sight.Unsaved}
	if unwritten != nil {
		return stopped, doneAllTheSame(unwritten, "it was ended, but could not be marked as stopped")
	}
	return stopped, dropped
}

// tellMove adds to an error the conversation to which an agent has moved by itself, which could
// not be written into its record.
func (s *Supervisor) tellMove(r agent.Record, unwritten error) error {
	from := r.SessionID
	if s.follow(&r); r.SessionID == from {
		return unwritten
	}
	return fail.Errorf(fail.KindOf(unwritten), "%w", unwritten).
		Hint("note where it was last, its record has the conversation before: %s", r.SessionID).
		Hint("to take that one up, with room again: nbs-worker spawn HANDLE --session-id %s", r.SessionID)
}
