package supervisor

import (
	"context"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/store/queue"
)

// leaves has an agent that is on its way to build2, and returns the note.
func (w *world) leaves(handle agent.Handle) moves.Note {
	w.Helper()
	id := agent.NewMoveID()
	r := w.has(handle, func(r *agent.Record) {
		r.Move = &agent.HostMove{ID: id, To: "build2", Command: "nbs-worker move " + string(handle) + " --to build2"}
	})
	note := moves.Note{ID: id, Handle: handle, SessionID: r.SessionID, State: moves.Given, Place: "build2", Command: r.Move.Command}
	w.must(w.Project.Store.Moves().Put(note))
	return note
}

// A move ends the launcher that was to start the agent again. So the agent starts where it arrives.
func TestMoveOfAnAgentThatWaitsForItsRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Project.Tmux = tmux.New
	w.has("alpha", w.awaits)
	var packed agent.Record
	w.must(w.Depart(t.Context(), "alpha", agent.HostMove{ID: agent.NewMoveID(), To: "build2", Command: "nbs-worker move alpha"}, false, func(_ context.Context, r *agent.Record) error {
		packed = *r
		return nil
	}))
	rig.Check(t, packed.Move != nil && packed.Move.Runs, "it is not started where it arrives: %+v", packed.Move)
}

// A message that comes in the moment in which an agent leaves is refused to its sender, and not dropped.
func TestMessageInTheMomentOfLeaving(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	note := w.leaves("alpha")
	sent := make(chan error)
	gone, err := w.Leave(t.Context(), note, func(ctx context.Context, _ *agent.Record) error {
		go func() { // its sender has looked at the record before it said that the agent leaves
			_, err := w.Project.Store.Outbox("alpha").Add(ctx, queue.Entry{Text: "Go on.", State: queue.Waiting})
			sent <- err
		}()
		return nil
	})
	late := <-sent
	rig.Must(t, err)
	rig.Check(t, fail.KindOf(late) == fail.Conflict || fail.KindOf(late) == fail.NotFound, "the sender is told: %v", late)
	rig.Check(t, gone.Dropped == 0, "%d messages were dropped", gone.Dropped)
}
