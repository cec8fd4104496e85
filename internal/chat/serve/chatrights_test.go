package serve

import (
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// What the bot permits counts from the next turn of a chat on: also for a text that waits, in a chat that was begun by
// other means, and when less is permitted than before. No chat is reset for it.
func TestAChatMayDoWhatTheBotPermits(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	bot := func(rights conversations.Rights) *Chats {
		chats := &Chats{Notes: s.store.Deliveries(), Rights: rights}
		chats.Server = New(s.engine(), func(string, ...any) {})
		return chats
	}
	write := func(chats *Chats, id string) {
		t.Helper()
		rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: "telegram:1", ID: id, Text: "hello"}))
	}
	answer := func(chats *Chats, id string) {
		t.Helper()
		serving := s.serve(func(server *Server) { chats.Server, server.Begin = server, chats.Permit })
		_, err := chats.Answer(t.Context(), "telegram:1", id, bridge.Answer{})
		rig.Must(t, err)
		rig.Must(t, serving.stop())
	}
	wide := conversations.Rights{PermissionMode: agent.BypassPermissions, AllowedTools: "Read"}
	narrow := conversations.Rights{PermissionMode: "plan"}
	s.accept("telegram:1", "begun by other means")
	write(bot(wide), "telegram:1")
	answer(bot(wide), "telegram:1")
	write(bot(wide), "telegram:2") // and then the bot ends
	answer(bot(narrow), "telegram:2")
	write(bot(conversations.Rights{}), "telegram:3")
	answer(bot(conversations.Rights{}), "telegram:3")
	var given []string
	for _, l := range s.Launches() {
		given = append(given, rightsIn(l.Args))
	}
	rig.Check(t, slices.Equal(given, []string{"bypassPermissions Read", "plan", ""}), "claude was started with %q", given)
	state, err := s.store.Conversations().Of("telegram:1").State()
	rig.Must(t, err)
	rig.Check(t, len(state.Previous) == 0 && state.Answered == 4 && state.Before != nil && state.Before.Rights == narrow, "%+v", state)
	s.mu.Lock()
	defer s.mu.Unlock()
	rig.Check(t, slices.Contains(s.says, "telegram:1: what Claude may do: plan; before: bypassPermissions; allowed tools Read"), "it said %q", s.says)
}

// rightsIn returns what the arguments of a claude permit.
func rightsIn(args []string) string {
	var given []string
	for i, arg := range args {
		if arg == "--permission-mode" {
			given = append(given, args[i+1])
		}
		if rules, is := strings.CutPrefix(arg, "--allowedTools="); is {
			given = append(given, rules)
		}
	}
	return strings.Join(given, " ")
}
