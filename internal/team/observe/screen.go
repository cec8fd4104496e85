package observe

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/tmux"
)

// Screen reads the agent's pane. Errors: [tmux.ErrNoSession] when it has none.
func (o *Project) Screen(ctx context.Context, r *agent.Record) (tmux.Screen, error) {
	client, panes, err := o.Panes(ctx, r)
	if err != nil {
		return tmux.Screen{}, err
	}
	pane, there := o.PaneOf(panes, r.Process)
	if !there {
		return tmux.Screen{}, tmux.ErrNoSession
	}
	screens, err := client.Screens(ctx, []string{pane.ID})
	if err != nil {
		return tmux.Screen{}, o.Diagnose(client, r.Handle, err)
	}
	screen, read := screens[pane.ID]
	if !read || screen.Invocation != pane.Invocation {
		return tmux.Screen{}, tmux.ErrNoSession // the pane has just ended
	}
	return screen, nil
}
