package serve

import (
	"context"
	"testing"

	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// A refused tool is told with the answer of a scheduled run, or makes the run a failure, as the entry says.
func TestRefusedToolsInAScheduledRun(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	s.Respond = func(_ int, text string) turn.Outcome {
		return turn.Outcome{Answer: "re: " + text, Denials: []turn.Denial{{Tool: "Write", Input: "FILE"}}}
	}
	told := make(chan string, 1)
	serving := s.serve(func(server *Server) {
		server.Relay = func(_ context.Context, _, text string) error { told <- text; return nil }
	})
	due := &Schedules{Server: serving.Server, Notes: s.store.Deliveries()}
	for name, want := range map[string]struct {
		on    schedule.OnDenied
		told  string
		fails bool
	}{
		"morning": {"", "Claude was not permitted to use Write.\n\nre: hello", false},
		"strict":  {schedule.DeniedFail, "The schedule strict failed: Claude was not permitted to use Write.", true},
	} {
		entry := &schedule.Entry{Name: name, Prompt: "hello", DeliverTo: "telegram:1", OnDenied: want.on}
		err := runner{due}.Run(t.Context(), schedule.Due{Entry: entry, ScheduledFor: storetest.SomeTime()})
		rig.Check(t, (err != nil) == want.fails, "%s: %v", name, err)
		rig.Equal(t, <-told, want.told, "%s", name)
	}
}
