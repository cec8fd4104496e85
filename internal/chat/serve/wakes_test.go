package serve

import (
	"context"
	"sync"
	"testing"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// A look at all conversations while some are drained is no cause for another look at all: turns that are held, whose drains
// end soon, would keep a server busy for ever.
func TestADrainWakesNoOtherConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	server := New(s.engine(), func(string, ...any) {})
	running := inProgress{again: map[conversations.Key]bool{}}
	var all sync.WaitGroup
	keys := []conversations.Key{"one", "two"}
	for _, key := range keys {
		_, _, err := server.Engine.Accept(t.Context(), key, conversation.Say{Request: conversations.Request{ID: string(key), Text: "wait"}})
		rig.Must(t, err)
	}
	server.drainAll(t.Context(), &running, &all)
	for range keys {
		<-s.begun
	}
	server.drainAll(t.Context(), &running, &all)
	close(s.Go)
	all.Wait()
	rig.Equal(t, len(server.wake), 0, "looks that are due")
	rig.Equal(t, len(running.again), 0, "conversations in progress")
	for _, key := range keys {
		result, err := server.Engine.Await(context.Background(), key, string(key))
		rig.Check(t, err == nil && result.Answer == "re: wait", "%+v, %v", result, err)
	}
}
