package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
)

// View is an agent as recorded and as observed.
type View struct {
	Record     agent.Record
	Status     agent.Status
	Transcript *claude.Transcript // nil: none on disk
	Kept       store.Freshness    // whether .nbs has it too
	Unkept     error              // why it has not
	Context    *agent.ContextUse  // nil: unknown
	Cost       *agent.Cost        // nil: unknown
	Usage      *proc.Usage        // nil: it does not run
	Drift      []Drift
	Strangers  []Stranger
	TmuxErr    error         // why tmux could not be asked; the rest is known all the same
	LastError  *LastError    // nil: the last turn went well, or there was none
	Dialog     claude.Dialog // at which a live agent waits, or ""
}

// Inspect looks at one agent closely.
func (s *Supervisor) Inspect(ctx context.Context, handle agent.Handle) (View, error) {
	r, err := s.Store.Load(handle)
	if err != nil {
		return View{}, err
	}
	s.followSeen(ctx, &r)
	view, report := View{Record: r}, s.reportOf(&r)
	var tmuxAlive bool
	var reading claude.Reading
	var strangersErr, transcriptErr error
	var all sync.WaitGroup // none of these waits for another
	all.Go(func() { tmuxAlive, view.TmuxErr = s.paneThere(ctx, &r) })
	all.Go(func() { view.Strangers, strangersErr = s.visibleStrangers(&r) })
	all.Go(func() { transcriptErr = s.addTranscript(&view, report) })
	all.Go(func() { reading = s.readIfNeeded(ctx, &r) })
	all.Wait()
	all.Go(func() { s.addKept(ctx, &view) })
	all.Go(func() { view.LastError = lastError(&r, report, view.Transcript) })
	view.Status = s.statusWith(&view.Record, tmuxAlive, view.TmuxErr)
	view.refine(reading, report)
	if view.Status.SamePID {
		usage := proc.UsageOf(r.Process.PID)
		view.Usage = &usage
		// A process that ends during the comparison has no drift; its end shows next time.
		view.Drift, _ = s.drift(&r)
	}
	all.Wait()
	return view, cmp.Or(transcriptErr, strangersErr)
}

// paneThere tells whether the agent's pane is there. tmux is asked only where the kernel
// does not say it: a look at an agent that is well should cost less than a call of tmux.
func (s *Supervisor) paneThere(ctx context.Context, r *agent.Record) (bool, error) {
	if s.paneStands(r) {
		return true, nil
	}
	_, panes, err := s.panes(ctx, r)
	_, there := paneOf(panes, r.Process)
	return there, err
}

func (s *Supervisor) addTranscript(view *View, report agent.Report) error {
	config, err := s.configOf(&view.Record)
	if err != nil {
		return err
	}
	var level claude.ContextLevel
	transcript, found, err := config.Transcript(view.Record.SessionID)
	if err == nil && found {
		view.Transcript = &transcript
		if level, err = transcript.Context(view.Record.Model); err != nil {
			err = fmt.Errorf("read the transcript: %w", err)
		}
	}
	gauge := view.Record.GaugeOf(report)
	view.Context, view.Cost = contextOf(gauge, level), costOf(gauge, level)
	return err
}

// Attach replaces this process by the agent's terminal.
func (s *Supervisor) Attach(ctx context.Context, handle agent.Handle) error {
	r, err := s.Store.Load(handle)
	if err != nil {
		return err
	}
	client, panes, err := s.panes(ctx, &r)
	if err != nil {
		return err
	}
	pane, there := paneOf(panes, r.Process)
	if !there {
		return agent.Errorf(agent.NotFound, "the agent has no tmux session: %s", s.status(&r, panes).Word()).
			Hint("nbs-worker resume %s", handle)
	}
	if r.Process.Tmux == nil {
		return agent.Errorf(agent.Conflict, "the agent is just being started").Hint("nbs-worker session %s", handle)
	}
	return client.Attach(r.Process.Tmux.Path, pane.SessionID)
}
