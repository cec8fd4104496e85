package supervisor

import (
	"context"
	"errors"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/moves"
)

// An agent that came here by a move whose note a kill has prevented is gone for that move once it has left or was dismissed.
func TestTheSameMoveBringsNoAgentTwice(t *testing.T) {
	t.Parallel()
	for what, goes := range map[string]func(w *world, ctx context.Context) error{
		"dismiss": func(w *world, ctx context.Context) error {
			_, err := w.Dismiss(ctx, "alpha", false)
			return err
		},
		"move": func(w *world, ctx context.Context) error {
			halt := errors.New("the rest is not of interest")
			err := w.Depart(ctx, "alpha", agent.HostMove{ID: agent.NewMoveID(), To: "build2", Command: "nbs-worker move alpha --to build2"}, true,
				func(context.Context, *agent.Record) error { return halt })
			if errors.Is(err, halt) {
				return nil
			}
			return err
		},
	} {
		w := newWorld(t)
		id := agent.NewMoveID()
		w.has("alpha", func(r *agent.Record) { r.Move = &agent.HostMove{ID: id} })
		rig.Must(t, goes(w, t.Context()))
		note, err := w.Project.Store.Moves().Get(id)
		rig.Check(t, err == nil && note.State == moves.Arrived, "%s: %v, %+v", what, err, note)
	}
}
