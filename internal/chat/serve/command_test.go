package serve

import (
	"fmt"
	"slices"
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/deliveries"
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
