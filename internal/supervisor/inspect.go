package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store/archive"
)

// View is an agent as recorded and as observed.
type View struct {
	observe.Sight // its Err: why tmux could not be asked; the rest is known all the same

	Transcript *transcript.File  // nil: none on disk
	Kept       archive.Freshness // whether the archive has it too
	Unkept     error             // why it has not
	Context    *agent.ContextUse // nil: unknown
	Cost       *agent.Cost       // nil: unknown
	Usage      *proc.Usage       // nil: it does not run
	Drift      []Drift
	Strangers  []observe.Stranger
	LastError  *LastError // nil: the last turn went well, or there was none
}

// Inspect looks at one agent closely.
func (s *Supervisor) Inspect(ctx context.Context, handle agent.Handle) (View, error) {
	r, err := s.Store.Load(handle)
	if err != nil {
		return View{}, err
	}
	view := View{Sight: s.LookAt(ctx, r)}
	if agent.KindOf(view.Err) == agent.NotFound {
		return View{}, view.Err // it was dismissed meanwhile
	}
	r = view.Record
	var strangersErr, transcriptErr error
	var all sync.WaitGroup // none of these waits for another
	all.Go(func() { view.Strangers, strangersErr = s.VisibleStrangers(&r) })
	all.Go(func() {
		if transcriptErr = s.addTranscript(&view); transcriptErr == nil {
			view.Kept, view.Unkept = s.Seen(ctx, &r, view.Transcript, view.NotAllowed == nil)
			view.LastError = lastError(view.Report, view.Transcript)
		}
	})
	if view.Status.SamePID {
		usage := proc.UsageOf(r.Process.PID)
		view.Usage = &usage
		// A process that ends during the comparison has no drift; its end shows next time.
		view.Drift, _ = s.DriftOf(&r)
	}
	all.Wait()
	return view, cmp.Or(transcriptErr, strangersErr)
}

func (s *Supervisor) addTranscript(view *View) error {
	config, err := s.ConfigOf(&view.Record)
	if err != nil {
		return err
	}
	var level transcript.Level
	file, found, err := config.Transcript(view.Record.SessionID)
	if err == nil && found {
		view.Transcript = &file
		if level, err = file.Context(view.Record.Model); err != nil {
			err = fmt.Errorf("read the transcript: %w", err)
		}
	}
	gauge := view.Record.GaugeOf(view.Report)
	view.Context, view.Cost = contextOf(gauge, level), costOf(gauge, level)
	return err
}

// Attach replaces this process by the agent's terminal.
func (s *Supervisor) Attach(ctx context.Context, handle agent.Handle) error {
	r, err := s.Store.Load(handle)
	if err != nil {
		return err
	}
	sight := s.LookAt(ctx, r)
	switch {
	case sight.Err != nil:
		return sight.Err
	case sight.Status.State == agent.Dead:
		return agent.Errorf(agent.NotFound, "the agent does not run: %s", sight.Status.Word()).
			Hint("nbs-worker resume %s", handle)
	case sight.Pane != nil:
		client, err := s.Client(&sight.Record)
		if err != nil {
			return err
		}
		return client.Attach(sight.Record.Process.Tmux.Path, sight.Pane.ID)
	case sight.Status.SamePID:
		return agent.Errorf(agent.Conflict, "%s, and there is nothing to attach to", s.whereabouts(&sight.Record)).
			Hint("go to that terminal; or move the agent into tmux, which ends it and starts it anew: nbs-worker resume %s --force", handle)
	default:
		return agent.Errorf(agent.Conflict, "the agent is just being started").Hint("nbs-worker session %s", handle)
	}
}

// whereabouts says where an agent runs that has no pane of ours.
func (s *Supervisor) whereabouts(r *agent.Record) string {
	if terminal := proc.Terminal(r.Process.PID); terminal != "" {
		return "it runs in the terminal " + terminal
	}
	return fmt.Sprintf("it runs as pid %d, without a terminal", r.Process.PID)
}
