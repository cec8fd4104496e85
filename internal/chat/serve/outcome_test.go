package serve

import (
	"testing"
	"time"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// heldUpOf is what holds a turn up, while it is open.
func (s *stage) heldUpOf(server *Server, key conversations.Key, id string) *conversations.Held {
	s.Helper()
	result, state, err := s.store.Conversations().Of(key).Look(id)
	rig.Check(s.T, err == nil && result == nil, "%+v, %v", result, err)
	return server.heldUp(key, &state.Open[0])
}

// A turn that waited for a person, and was given up by a reset, is not what the next one is held up by.
func TestADeadLetterThatWasGivenUpHoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	serving := s.serve()
	chats := &Chats{Server: serving.Server, Notes: s.store.Deliveries()}
	const key = "telegram:1"
	s.accept(key, "login")
	serving.Wake()
	rig.Eventually(t, "it was said that it waits for a person", func() bool {
		serving.mu.Lock()
		defer serving.mu.Unlock()
		return serving.trouble[key].Reason != ""
	})
	_, err := chats.Reset(t.Context(), key, "telegram:78")
	rig.Must(t, err)
	id := s.accept(key, "wait")
	serving.Wake()
	<-s.begun
	held := s.heldUpOf(serving.Server, key, id)
	rig.Check(t, held == nil, "it is held up by %+v", held)
	close(s.Go)
	o, err := serving.Outcome(t.Context(), key, id, nil)
	rig.Check(t, err == nil && o.Result != nil && o.Result.Answer == "re: wait", "%+v, %v", o, err)
}

// What kept a turn from being tried holds it up until an attempt begins, whoever makes that.
func TestTroubleEndsWithTheNextAttempt(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	server := New(s.engine(), func(string, ...any) {})
	server.Engine.Project.Now = time.Now
	id := s.accept("review", "wait")
	server.note("review", fail.Errorf(fail.Conflict, "it is open in a terminal"))
	held := s.heldUpOf(server, "review", id)
	rig.Check(t, held != nil && held.Class == string(conversation.ClassInUse), "it is held up by %+v", held)
	answered := make(chan error, 1)
	go func() { _, err := server.Engine.Await(t.Context(), "review", id); answered <- err }()
	<-s.begun
	held = s.heldUpOf(server, "review", id)
	rig.Check(t, held == nil, "while it is answered it is held up by %+v", held)
	close(s.Go)
	rig.Must(t, <-answered)
}
