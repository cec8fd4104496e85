package serve

import (
	"context"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
)

// What a schedule and tell deliver to a chat reaches the chat's next turn, also the first one, which has the bot's own
// prompt. What could not be delivered does not.
func TestWhatAChatIsToldIsContextOfItsNextTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	var refuse error
	server := s.serve(func(server *Server) {
		server.Tell = func(context.Context, string, string) error { return refuse }
		server.Relay = server.Tell
		server.Engine.IsChat = func(key conversations.Key) bool { return strings.HasPrefix(string(key), "telegram:") }
	}).Server
	schedules := &Schedules{Server: server, Notes: s.store.Deliveries()}
	due := schedule.Due{Entry: &schedule.Entry{Name: "morning", DeliverTo: "telegram:1"}, ScheduledFor: storetest.SomeTime()}
	rig.Must(t, schedules.deliver(t.Context(), due, &conversations.Result{Answer: "It will rain."}))
	rig.Must(t, client.Tell(t.Context(), s.store, "telegram:1", "The build is done."))
	refuse = context.DeadlineExceeded
	rig.Check(t, client.Tell(t.Context(), s.store, "telegram:1", "Never seen.") != nil, "it was delivered")

	chats := &Chats{Server: server, Notes: s.store.Deliveries(), Prompt: "You are Bubba.", Model: "haiku"}
	begun := time.Now()
	for _, id := range []string{"telegram:77", "telegram:78"} {
		rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: "telegram:1", ID: id, Text: "hello"}))
		_, err := server.Outcome(t.Context(), "telegram:1", id, nil)
		rig.Must(t, err)
	}
	rig.Check(t, time.Since(begun) < rig.Scaled(rescan), "a message that comes at the end of a turn waits for %s", time.Since(begun))
	state, err := s.store.Conversations().Of("telegram:1").State()
	rig.Must(t, err)
	rig.Check(t, state.Meta.SystemPrompt == "You are Bubba." && state.Meta.Model == "haiku" && state.TellReset == nil && len(state.Previous) == 0, "%+v", state)
	said := storetest.Read(t, s.Transcript(state.Session.ID))
	for text, times := range map[string]int{"schedule morning]": 1, "It will rain.": 1, "The build is done.": 1, "Never seen.": 0} {
		rig.Equal(t, strings.Count(said, text), times*2, "%q, which stands twice in its record", text)
	}
	rig.Equal(t, len(s.Launches()), 1, "claudes, since a warm one takes what its chat is told")
}
