package serve

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/storetest"
)

// A reset that was noted is known to each next bridge until it is over, and done once however often it is taken up; also
// one that a version before had begun.
func TestANotedCommandIsDoneOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	serving := s.serve()
	chats := &Chats{Server: serving.Server, Notes: s.store.Deliveries()}
	const key, id, old = "telegram:1", "telegram:78", "telegram:79"
	first := s.accept(key, "hello")
	serving.Wake()
	o, err := serving.Outcome(t.Context(), key, first, nil)
	rig.Must(t, err)
	command := bridge.Incoming{Key: key, ID: id, Text: "/new", Context: "It is from Ann.", Messages: []string{"5"}}
	isIt := func(u bridge.Unfinished) bool {
		return u.Noted != nil && fmt.Sprint(*u.Noted) == fmt.Sprint(command) && u.Key == key && u.ID == id
	}
	for _, step := range []string{"noted", "done", "taken up"} {
		over, err := chats.NoteWaiting(t.Context(), command)
		rig.Check(t, err == nil && !over, "%s: over %v, %v", step, over, err)
		open, err := chats.Undelivered(t.Context())
		rig.Check(t, err == nil && slices.ContainsFunc(open, isIt), "%s: %+v, %v", step, open, err)
		previous, err := chats.Reset(t.Context(), key, id)
		rig.Check(t, err == nil && previous == string(o.Result.SessionID), "%s: %q, %v", step, previous, err)
	}
	rig.Must(t, chats.NoteDelivered(t.Context(), key, id, ""))
	over, err := chats.NoteWaiting(t.Context(), command)
	rig.Check(t, err == nil && over, "over %v, %v", over, err)
	open, err := chats.Undelivered(t.Context())
	rig.Check(t, err == nil && len(open) == 0, "%+v, %v", open, err)

	rig.Must(t, s.store.Deliveries().Put(deliveries.Note{ID: old, Key: key, State: deliveries.Over, Text: "before", At: chats.Server.Engine.Project.Now()}))
	over, err = chats.NoteWaiting(t.Context(), bridge.Incoming{Key: key, ID: old, Text: "/new"})
	rig.Check(t, err == nil && !over, "over %v, %v", over, err)
	previous, err := chats.Reset(t.Context(), key, old)
	rig.Check(t, err == nil && previous == "before", "%q, %v", previous, err)
}

// A command that was begun stays before what was noted behind it: the next bridge takes it up first, or a message behind
// /new would be said in the old conversation.
func TestABegunCommandStaysBeforeWhatIsBehindIt(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	e, now := s.engine(), storetest.SomeTime()
	e.Project.Now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	chats := &Chats{Server: New(e, func(string, ...any) {}), Notes: s.store.Deliveries()}
	for _, c := range []struct {
		key   string
		begin func(key string) (string, error)
	}{
		{"telegram:1", func(key string) (string, error) { return chats.Reset(t.Context(), key, key+" command") }},
		{"telegram:2", func(key string) (string, error) { return chats.Back(t.Context(), key, key+" command", "") }},
	} {
		s.accept(conversations.Key(c.key), "hello")
		for _, what := range []string{" command", " behind"} {
			_, err := chats.NoteWaiting(t.Context(), bridge.Incoming{Key: c.key, ID: c.key + what, Text: what})
			rig.Must(t, err)
		}
		_, err := c.begin(c.key)
		rig.Must(t, err)
		open, err := chats.Undelivered(t.Context())
		open = slices.DeleteFunc(open, func(u bridge.Unfinished) bool { return u.Key != c.key })
		rig.Check(t, err == nil && len(open) == 2 && open[0].ID == c.key+" command", "%s: %+v, %v", c.key, open, err)
	}
}
