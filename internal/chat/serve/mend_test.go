package serve

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/storetest"
)

// What keeps a turn from being tried is told once, although each server finds it again; another cause is told too.
func TestWhatKeepsATurnFromBeingTriedIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	const key, id = "telegram:1", "telegram:77"
	for i, c := range []struct {
		cause error
		known bool
	}{
		{fail.Errorf(fail.Conflict, "pid 7 has it open"), false}, {fail.Errorf(fail.Conflict, "pid 8 has it open"), true},
		{fail.Errorf(fail.NotFound, "the folder is gone"), false}, {fail.Errorf(fail.NotFound, "the folder is gone"), true},
		{fail.Errorf(fail.NotFound, "there is no claude"), false}, {fail.Errorf(fail.Conflict, "pid 9 has it open"), false},
	} {
		e := s.engine()
		e.Project.Now = func() time.Time { return storetest.SomeTime().Add(time.Duration(i) * time.Hour) }
		chats := &Chats{Server: New(e, func(string, ...any) {}), Notes: s.store.Deliveries()}
		if i == 0 {
			rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: key, ID: id, Text: "hello"}))
		}
		chats.Server.note(key, c.cause)
		told, err := chats.Answer(t.Context(), key, id, bridge.Answer{})
		rig.Check(t, err == nil && told.Held && told.Mends && told.Known == c.known, "%d: %+v, %v", i, told, err)
		ctx, end := context.WithCancel(t.Context())
		end()
		_, err = chats.Answer(ctx, key, id, told)
		rig.Check(t, errors.Is(err, context.Canceled), "%d: %v", i, err)
	}
}

// A login that has expired is told once, however often it is tried again and whichever server does it.
func TestAnExpiredLoginIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	s.Respond = func(n int, text string) turn.Outcome {
		if n <= 3 {
			return turn.Outcome{Class: turn.Authentication, Detail: "log in, attempt " + text}
		}
		return turn.Outcome{Answer: "re: " + text}
	}
	const key = "telegram:1"
	id := s.accept(key, "hello")
	rig.Must(t, s.store.Deliveries().Put(deliveries.Note{ID: id, Key: key, Seq: 1, State: deliveries.Accepted, At: storetest.SomeTime()}))
	first := s.serve()
	chats := &Chats{Server: first.Server, Notes: s.store.Deliveries()}
	told, err := chats.Answer(t.Context(), key, id, bridge.Answer{})
	rig.Check(t, err == nil && told.Class == "authentication" && told.Held && told.Mends && !told.Known, "%+v, %v", told, err)
	answered := make(chan bridge.Answer, 1)
	go func() { a, _ := chats.Answer(t.Context(), key, id, told); answered <- a }()
	rig.Eventually(t, "it is noted that the chat knows", func() bool {
		note, _, err := s.store.Deliveries().Get(id)
		return err == nil && note.Held == "authentication"
	})
	attempts := func(want int) {
		t.Helper()
		rig.Eventually(t, "it is tried again", func() bool {
			state, err := s.store.Conversations().Of(key).State()
			return err == nil && len(state.Open[0].Starts) == want && state.Open[0].Held != nil
		})
	}
	s.accept(key, "are you there?")
	first.Wake()
	attempts(2)
	rig.Equal(t, len(answered), 0, "what the chat is told again")
	s.mu.Lock()
	rig.Check(t, strings.Contains(strings.Join(s.says, "\n"), "telegram:1: the turn, number 1, is held: log in"), "the operator is told %q", s.says)
	s.mu.Unlock()

	rig.Must(t, first.stop())
	second := s.serve()
	attempts(3)
	later := &Chats{Server: second.Server, Notes: s.store.Deliveries()}
	known, err := later.Answer(t.Context(), key, id, bridge.Answer{})
	rig.Check(t, err == nil && known.Held && known.Known, "a server that was started later tells it: %+v, %v", known, err)
	_, attend := second.open()
	rig.Equal(t, attend, 1, "turns that need a person")
	s.accept(key, "and now?")
	second.Wake()
	o, err := second.Outcome(t.Context(), key, id, &conversations.Held{Class: known.Class, Mends: true})
	rig.Check(t, err == nil && o.Result != nil && o.Result.Class == "", "%+v, %v", o, err)
}
