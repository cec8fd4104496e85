package serve

import (
	"context"
	"errors"
	"sync"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
)

// Unasked tells chats what came in their conversations without a question: what Claude said by itself when a background
// task had ended, and notices. It comes after the answer of the turn before it.
type Unasked struct {
	Server *Server
	Notes  *deliveries.Drawer

	mu   sync.Mutex
	keys map[conversations.Key]*talk // of conversations with something to tell
}

// talk is a conversation with something to tell.
type talk struct {
	told bool // a goroutine tells it
	more bool // something has come since that goroutine has looked
}

// NewUnasked returns what tells the chats of a server.
func NewUnasked(s *Server, notes *deliveries.Drawer) *Unasked {
	u := &Unasked{Server: s, Notes: notes, keys: map[conversations.Key]*talk{}}
	s.Engine.Added = func(key conversations.Key) { u.add(key); s.changed() }
	return u
}

// Run tells until the context ends, first what an earlier server did not tell.
func (u *Unasked) Run(ctx context.Context) error {
	drawer := u.Server.Engine.Project.Store.Conversations()
	keys, _ := drawer.Keys() // the list of conversations reports unreadable ones
	for _, key := range keys {
		if state, err := drawer.Of(key).State(); err == nil && len(state.Untold) > 0 {
			u.add(key)
		}
	}
	var all sync.WaitGroup
	defer all.Wait()
	again := time.NewTicker(rescan)
	defer again.Stop()
	for {
		changed := u.Server.awaitChange()
		for _, key := range u.begin() {
			all.Go(func() { u.tell(ctx, key) })
		}
		select {
		case <-changed:
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (u *Unasked) add(key conversations.Key) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.keys[key] == nil {
		u.keys[key] = &talk{}
	}
	u.keys[key].more = true
}

// begin returns the keys that are not being told yet.
func (u *Unasked) begin() (keys []conversations.Key) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, talk := range u.keys {
		if !talk.told {
			talk.told = true
			keys = append(keys, key)
		}
	}
	return keys
}

// tell tells a chat what came, oldest first.
func (u *Unasked) tell(ctx context.Context, key conversations.Key) {
	for u.look(key) {
		changed := u.Server.awaitChange()
		if u.tellAll(ctx, key) {
			continue
		}
		select {
		case <-changed:
		case <-time.After(rescan):
		case <-ctx.Done():
			return
		}
		u.add(key)
	}
}

// look reports whether something has come since the last look. If not, the conversation is forgotten.
func (u *Unasked) look(key conversations.Key) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	more := u.keys[key].more
	if u.keys[key].more = false; !more {
		delete(u.keys, key)
	}
	return more
}

// tellAll reports whether nothing is left to tell. It stops at what came after an answer that is not told yet; the
// telling of that is a change.
func (u *Unasked) tellAll(ctx context.Context, key conversations.Key) (done bool) {
	c := u.Server.Engine.Project.Store.Conversations().Of(key)
	for {
		state, err := c.State()
		if err != nil || len(state.Untold) == 0 {
			return err == nil
		}
		came := state.Untold[0]
		if answer, there, err := u.Notes.Get(came.Turn); err == nil && there && answer.State != deliveries.Over {
			return false
		}
		if _, _, err := u.Notes.Get("unasked:" + came.ID); err != nil { // it cannot be known whether it was told
			return false
		}
		if err := u.Server.tellOnce(ctx, u.Notes, "unasked:"+came.ID, string(key), came.Text, u.Server.Relay); err != nil {
			if errors.Is(err, context.Canceled) { // it is told again
				return false
			}
			u.Server.Said("%s: what came unasked was not told: %s", key, err)
		}
		if c.Delivered(ctx, came.ID) != nil {
			return false
		}
	}
}

// tellOnce sends a text to a chat with tell, once for its id. If it may have done so before a crash, the text says so. The note is
// not a message of the chat: the bridge would answer one.
func (s *Server) tellOnce(ctx context.Context, notes *deliveries.Drawer, id, to, text string, tell func(ctx context.Context, to, text string) error) error {
	note, again, err := notes.Get(id)
	if err != nil || note.State == deliveries.Over {
		return err
	}
	note = deliveries.Note{ID: id, Key: to, State: deliveries.Begun, At: s.Engine.Project.Now().UTC()}
	_ = notes.Put(note) // on a full disk the chat is told anyway
	if again {
		text = bridge.PerhapsAgain + text
	}
	untold := tell(ctx, to, text)
	if errors.Is(untold, context.Canceled) { // the next server sends it
		return untold
	}
	note.State = deliveries.Over
	return errors.Join(untold, notes.Put(note))
}
