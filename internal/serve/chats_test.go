package serve

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/conversation"
	"nbs-worker/internal/conversation/schedule"
	"nbs-worker/internal/remote"
	"nbs-worker/internal/sim/rig"
)

// A claude that hangs keeps neither a chat nor a schedule for good.
func TestTurnsOfChatsAndSchedulesEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	server := New(s.engine(), func(string, ...any) {})
	chats := &Chats{Server: server, Notes: s.store.Deliveries()}
	rig.Must(t, chats.Accept(t.Context(), "telegram:1", "telegram:77", "hello"))
	asked, err := s.store.Conversations().Of("telegram:1").Request(1)
	rig.Check(t, err == nil && asked.Timeout == conversation.TurnTimeout, "of a chat: %+v, %v", asked, err)
	_, say, err := remote.Scheduled(server.Engine, schedule.Due{Entry: &schedule.Entry{Name: "morning", Prompt: "hello", Model: agent.Model("haiku")}})
	rig.Check(t, err == nil && say.Timeout == conversation.TurnTimeout, "of a schedule: %+v, %v", say, err)
}
