package supervisor

import (
	"context"
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/tmux"
)

// View is an agent as recorded and as observed.
type View struct {
	Record     agent.Record
	Status     agent.Status
	Transcript *claude.Transcript   // nil: none on disk
	Context    *claude.ContextLevel // nil: unknown
	Usage      *proc.Usage          // nil: it does not run
	Drift      []Drift
	Strangers  []Stranger
	TmuxErr    error         // why tmux could not be asked; the rest is known all the same
	Dialog     claude.Dialog // at which a live agent waits, or ""
}

// Inspect looks at one agent closely.
func (s *Supervisor) Inspect(ctx context.Context, handle agent.Handle) (View, error) {
	r, err := s.Store.Load(handle)
	if err != nil {
		return View{}, err
	}
	view := View{Record: r}
	client, panes, err := s.panes(ctx, &r)
	view.TmuxErr = err
	view.Status = s.status(&r, panes)
	if err := s.addTranscript(&view); err != nil {
		return view, err
	}
	if view.Strangers, err = s.strangers(&r); err != nil {
		return view, err
	}
	if view.Status.SamePID {
		usage := proc.UsageOf(ctx, r.Process.PID)
		view.Usage = &usage
		// A process that ends during the comparison has no drift; its end shows next time.
		view.Drift, _ = s.drift(&r)
		s.addDialog(ctx, &view, client, panes)
	}
	return view, nil
}

func (s *Supervisor) addTranscript(view *View) error {
	config, err := claude.ConfigOf(&view.Record, s.Env)
	if err != nil {
		return err
	}
	transcript, found, err := config.Transcript(view.Record.SessionID)
	if err != nil || !found {
		return err
	}
	view.Transcript = &transcript
	level, known, err := transcript.Context(view.Record.Model)
	if err != nil {
		return fmt.Errorf("read the transcript: %w", err)
	}
	if known {
		view.Context = &level
	}
	return nil
}

// addDialog reads the screen of a live agent that the registry does not know.
func (s *Supervisor) addDialog(ctx context.Context, view *View, client *tmux.Client, panes []tmux.Pane) {
	if view.Status.Source == "registry" || view.TmuxErr != nil {
		return
	}
	pane, there := paneOf(panes, view.Record.Process)
	if !there {
		return
	}
	screen, err := client.Screen(ctx, pane.ID)
	if err != nil {
		return
	}
	if dialog, open := claude.ReadDialog(screen); open {
		view.Dialog = dialog
		view.Status.State, view.Status.Source = agent.Waiting, "screen"
		view.Status.Detail = string(dialog) + " dialog"
	}
}

// Row is one agent in a list. Err says what could not be known of it: with a record
// that could be read, all but its tmux session.
type Row struct {
	Handle agent.Handle
	Record agent.Record
	Status agent.Status
	Err    error
}

// List looks at all agents of the project with one call to each tmux server that
// they were started in. One damaged record does not hide the others.
func (s *Supervisor) List(ctx context.Context) ([]Row, error) {
	handles, err := s.Store.Handles()
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(handles))
	for i, handle := range handles {
		rows[i] = Row{Handle: handle, Status: agent.Status{State: agent.Unknown, Source: "record", Detail: "the record cannot be read"}}
		rows[i].Record, rows[i].Err = s.Store.Load(handle)
	}
	servers := s.askAll(ctx, rows)
	for i := range rows {
		if row := &rows[i]; row.Err == nil {
			row.Status, row.Err = s.listed(ctx, &row.Record, servers)
		}
	}
	return rows, nil
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
