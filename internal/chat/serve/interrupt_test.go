package serve

import (
	"context"
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
)

// A stop that comes again, because the bridge was killed before it had acknowledged it, is told again, and stops no
// later turn. One that found nothing stops nothing later either.
func TestARepeatedStopStopsNothingElse(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	server := s.serve().Server
	chats := &Chats{Server: server, Notes: s.store.Deliveries()}
	asks := func(id string) {
		t.Helper()
		_, err := server.Accept(t.Context(), "telegram:1", conversation.Say{
			Request: conversations.Request{ID: id, Text: "wait", At: storetest.SomeTime()}, Meta: conversations.Meta{Cwd: s.store.Project(), ConfigDir: s.Config},
		})
		rig.Must(t, err)
		<-s.begun
	}
	behind := ""
	stop := func(id string, want bridge.Interruption) {
		t.Helper()
		got, err := chats.Interrupt(t.Context(), "telegram:1", id, "stopped by /stop", func(message string) bool { return message == behind })
		rig.Must(t, err)
		rig.Equal(t, got, want, "the stop %s", id)
	}
	stop("1:stop", bridge.Interruption{})
	asks("telegram:2")
	stop("1:stop", bridge.Interruption{})
	stop("3:stop", bridge.Interruption{Is: true})
	answer, err := chats.Answer(t.Context(), "telegram:1", "telegram:2", bridge.Answer{})
	rig.Check(t, err == nil && answer.Class == "interrupted" && answer.Error == "stopped by /stop", "%+v, %v", answer, err)
	asks("telegram:4")
	stop("3:stop", bridge.Interruption{Is: true})
	behind = "telegram:4" // as a stop that waits while its bridge is down, and what is written behind it
	stop("6:stop", bridge.Interruption{})
	close(s.Go)
	answer, err = chats.Answer(t.Context(), "telegram:1", "telegram:4", bridge.Answer{})
	rig.Check(t, err == nil && answer.Text == "re: wait", "%+v, %v", answer, err)
	stop("5:stop", bridge.Interruption{})
}

func nothing(string) bool { return false }

// A stop ends what Claude does after its answer, and the chat is told what that was, once. One that comes again finds
// nothing.
func TestAStopEndsABackgroundTask(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	told := make(chan string, 10)
	serving := s.serve(s.bridged(func(_ context.Context, to, text string) error { told <- to + " " + text; return nil }))
	chats := &Chats{Server: serving.Server, Notes: s.store.Deliveries()}
	s.Respond = func(_ int, text string) turn.Outcome {
		s.Last().Work("npm run dev")
		return turn.Outcome{Answer: "re: " + text}
	}
	s.mustAnswer("telegram:1", "one")
	for _, want := range []bridge.Interruption{{Is: true, Told: true}, {Ended: true}} {
		rig.Eventually(t, "its claude waits", func() bool { return want.Ended || serving.Engine.Warm.Busy("telegram:1") })
		got, err := chats.Interrupt(t.Context(), "telegram:1", "1:stop", "stopped by /stop", nothing)
		rig.Check(t, err == nil && got == want, "%+v, %v; want %+v", got, err, want)
	}
	rig.Equal(t, <-told, "telegram:1 Claude had answered; its background task was ended: npm run dev.", "what is told")
	rig.Eventually(t, "it is noted", func() bool { return s.untold("telegram:1") == 0 })
	rig.Equal(t, len(told), 0, "what else is told")
}
