package inspect

import (
	"context"
	"errors"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
)

// Shot is what an agent's terminal showed.
type Shot struct {
	At            time.Time
	Width, Height int
	Text          string
	Reading       screen.Reading
}

// Screen looks at an agent's terminal. Errors: NotFound if it has none.
func (i *Inspector) Screen(ctx context.Context, handle agent.Handle) (Shot, error) {
	r, err := i.Project.Store.Load(handle)
	if err != nil {
		return Shot{}, err
	}
	shown, err := i.Project.Screen(ctx, &r)
	if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoServer) {
		return Shot{}, fail.Errorf(fail.NotFound, "the agent has no tmux session: %s", i.Project.LookAt(ctx, r).Status.Word()).
			Hint("nbs-worker session %s", handle)
	}
	if err != nil {
		return Shot{}, err
	}
	shot := Shot{At: i.Project.Now().UTC(), Width: shown.Width, Height: shown.Height, Reading: screen.Read(shown.Text)}
	if shot.Text = strings.TrimRight(shown.Text, "\n"); shot.Text != "" {
		shot.Text += "\n"
	}
	return shot, nil
}
