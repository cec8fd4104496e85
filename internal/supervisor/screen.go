package supervisor

import (
	"context"
	"errors"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/tmux"
)

// Shot is what an agent's terminal showed.
type Shot struct {
	At            time.Time
	Width, Height int
	Text          string
	Reading       claude.Reading
}

// Screen looks at an agent's terminal. Errors: NotFound when it has none.
func (s *Supervisor) Screen(ctx context.Context, handle agent.Handle) (Shot, error) {
	r, err := s.Store.Load(handle)
	if err != nil {
		return Shot{}, err
	}
	screen, err := s.screen(ctx, &r)
	if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoServer) {
		return Shot{}, agent.Errorf(agent.NotFound, "the agent has no tmux session: %s", s.statusWith(&r, false, nil).Word()).
			Hint("nbs-worker session %s", handle)
	}
	if err != nil {
		return Shot{}, err
	}
	shot := Shot{At: s.Now().UTC(), Width: screen.Width, Height: screen.Height, Reading: claude.ReadScreen(screen.Text)}
	if shot.Text = strings.TrimRight(screen.Text, "\n"); shot.Text != "" {
		shot.Text += "\n"
	}
	return shot, nil
}

// screen reads the agent's pane: in one call of tmux where the launcher, whose terminal it
// is, tells which it is.
func (s *Supervisor) screen(ctx context.Context, r *agent.Record) (tmux.Screen, error) {
	if pane := s.paneID(r); pane != "" {
		client, err := s.client(r)
		if err != nil {
			return tmux.Screen{}, err
		}
		if screen, err := client.Look(ctx, pane); err == nil && screen.Invocation == r.Process.Invocation {
			return screen, nil
		}
	}
	client, panes, err := s.panes(ctx, r)
	if err != nil {
		return tmux.Screen{}, err
	}
	pane, ok := paneOf(panes, r.Process)
	if !ok {
		return tmux.Screen{}, tmux.ErrNoSession
	}
	screen, err := client.Look(ctx, pane.ID)
	if err == nil && screen.Invocation != r.Process.Invocation {
		err = tmux.ErrNoSession // it went meanwhile
	}
	return screen, diagnose(client, r.Handle, err)
}

// paneID is the pane that the agent's launcher leads, as tmux told it at its start; "" when
// that cannot be known without asking tmux.
func (s *Supervisor) paneID(r *agent.Record) string {
	if !s.paneStands(r) {
		return ""
	}
	pane, _ := proc.Variable(r.Process.Launcher.PID, "TMUX_PANE")
	if !strings.HasPrefix(pane, "%") || strings.Trim(pane, "%0123456789") != "" {
		return ""
	}
	return pane
}
