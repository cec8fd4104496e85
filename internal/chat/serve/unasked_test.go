package serve

import (
	"context"
	"strings"
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/storetest"
)

// bridged makes a server tell its chats what comes unasked.
func (s *stage) bridged(tell func(ctx context.Context, to, text string) error) func(*Server) {
	return func(server *Server) {
		server.Relay = tell
		server.Engine.IsChat = func(key conversations.Key) bool { return strings.HasPrefix(string(key), "telegram:") }
		server.Beside = append(server.Beside, NewUnasked(server, s.store.Deliveries()).Run)
	}
}

func (s *stage) untold(key conversations.Key) int {
	s.Helper()
	state, err := s.store.Conversations().Of(key).State()
	rig.Must(s.T, err)
	return len(state.Untold)
}

// What Claude says by itself is told to its chat, after the answer to the message before it; in a conversation that is no
// chat it is only recorded.
func TestAChatIsToldWhatComesUnasked(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	told := make(chan string, 10)
	serving := s.serve(s.bridged(func(_ context.Context, to, text string) error { told <- to + " " + text; return nil }))
	s.mustAnswer("review", "one")
	s.Last().Says("a", "only recorded")
	chats := &Chats{Server: serving.Server, Notes: s.store.Deliveries()}
	answer := s.mustAnswer("telegram:1", "one")
	rig.Must(t, s.store.Deliveries().Put(deliveries.Note{ID: answer.ID, Key: "telegram:1", State: deliveries.Accepted, At: storetest.SomeTime()}))
	claude := s.Last()
	claude.Says("b", "It has slept.")
	claude.Says("c", "And woke up.")
	s.mustAnswer("telegram:2", "one")
	s.Last().Says("d", "of another chat")
	rig.Equal(t, <-told, "telegram:2 of another chat", "what is told while the answer of the first chat is not")
	rig.Must(t, chats.NoteDelivered(t.Context(), "telegram:1", answer.ID, ""))
	rig.Equal(t, <-told, "telegram:1 It has slept.", "the first")
	rig.Equal(t, <-told, "telegram:1 And woke up.", "the second")
	rig.Eventually(t, "it is noted", func() bool { return s.untold("telegram:1") == 0 })
	rig.Check(t, len(told) == 0 && s.untold("review") == 0, "%d more", len(told))
}

// What a killed server has recorded and perhaps told is told by the next one, which says so.
func TestTheNextServerTellsWhatCameUnasked(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	first := s.serve(s.bridged(func(context.Context, string, string) error { return context.Canceled }))
	answer := s.mustAnswer("telegram:1", "one")
	s.Last().Says("a", "It has slept.")
	rig.Eventually(t, "it is being told", func() bool {
		_, there, err := s.store.Deliveries().Get("unasked:a")
		return err == nil && there
	})
	s.Last().Work("npm run dev")
	rig.Must(t, first.stop()) // which ends its claude
	rig.Equal(t, s.untold("telegram:1"), 2, "untold")
	told := make(chan string, 10)
	s.serve(s.bridged(func(_ context.Context, _, text string) error { told <- text; return nil }))
	rig.Equal(t, <-told, bridge.PerhapsAgain+"It has slept.", "the first")
	rig.Equal(t, <-told, "A background task was ended 0s after the answer: npm run dev.", "the second")
	result, _, err := s.store.Conversations().Of("telegram:1").Result(answer.ID)
	rig.Check(t, err == nil && len(result.FollowUps) == 1 && strings.Contains(result.Notice, "npm run dev"), "%+v, %v", result, err)
	rig.Eventually(t, "it is noted", func() bool { return s.untold("telegram:1") == 0 })
}

// A chat gets the answer of a scheduled run at once, and later what Claude says of the background task of that run.
func TestAScheduledRunHasItsFollowUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	s.Respond = func(_ int, text string) turn.Outcome {
		s.Last().Work("sleep 9")
		return turn.Outcome{Answer: "re: " + text}
	}
	told := make(chan string, 10)
	serving := s.serve(func(server *Server) {
		server.Relay = func(_ context.Context, _, text string) error { told <- text; return nil }
	})
	schedules := &Schedules{Server: serving.Server, Notes: s.store.Deliveries()}
	due := schedule.Due{Entry: &schedule.Entry{Name: "morning", Prompt: "hello", DeliverTo: "telegram:1"}, ScheduledFor: storetest.SomeTime()}
	ran := make(chan error, 1)
	go func() { ran <- runner{schedules}.Run(t.Context(), due) }()
	rig.Equal(t, <-told, "re: hello", "the answer")
	s.Last().Says("a", "It has slept.")
	s.Last().Work()
	rig.Equal(t, <-told, "It has slept.", "what comes later")
	rig.Must(t, <-ran)
}
