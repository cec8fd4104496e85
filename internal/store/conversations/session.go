package conversations

import (
	"context"
	"maps"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// Reset ends the conversation's session: the next turn begins a new one. change, which may be nil, changes its meta. It
// returns the previous session, or zero if there was no session. Errors: [fs.ErrNotExist]; those of change.
func (c *Conversation) Reset(ctx context.Context, reason string, change func(*Meta) error) (previous Previous, err error) {
	err = c.change(ctx, func(s *State) (*Line, error) {
		line := &Line{What: WasReset, At: time.Now().UTC(), Previous: s.Session.ID, Reason: reason}
		if change != nil {
			meta := s.Meta
			if err := change(&meta); err != nil {
				return nil, err
			}
			meta.Key, meta.Created, meta.Memory = s.Meta.Key, s.Meta.Created, s.Meta.Memory
			line.Meta = &meta
		}
		if s.Session.ID != "" {
			previous = Previous{ID: s.Session.ID, Until: line.At, Reason: reason}
		}
		return line, nil
	})
	return previous, err
}

// ResetUnused ends the conversation's session as Reset does, unless a turn is open, or a turn was asked for or
// answered at or after since. done reports whether it did. Errors: [fs.ErrNotExist].
func (c *Conversation) ResetUnused(ctx context.Context, reason string, since time.Time) (done bool, err error) {
	err = c.change(ctx, func(s *State) (*Line, error) {
		if len(s.Open) > 0 || s.Session.ID == "" || !s.LastAt.Before(since) {
			return nil, nil //nolint:nilnil // there is nothing to change
		}
		done = true
		return &Line{What: WasReset, At: time.Now().UTC(), Previous: s.Session.ID, Reason: reason}, nil
	})
	return done, err
}

// Restore makes a previous session the conversation's session again. Errors: NotFound when the id is not of a
// previous session; [fs.ErrNotExist].
func (c *Conversation) Restore(ctx context.Context, id agent.SessionID) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		if s.Session.ID == id {
			return nil, nil //nolint:nilnil // there is nothing to change
		}
		if !s.Has(id) {
			return nil, c.errNotOurs(id)
		}
		return &Line{What: Restored, At: time.Now().UTC(), Session: id, Previous: s.Session.ID, Reason: "restored " + string(id)}, nil
	})
}

// Adopt gives the conversation a session that another record has; seen is false if it has no transcript. It creates the
// conversation if it does not exist.
func (c *Conversation) Adopt(ctx context.Context, meta Meta, id agent.SessionID, seen bool) error {
	if err := c.make(); err != nil {
		return err
	}
	return c.locked(ctx, func(w *writer) error {
		line := &Line{What: Adopted, At: time.Now().UTC(), Session: id, Unseen: !seen}
		switch {
		case w.IsUnused():
			line.Meta = w.founded(meta, line.At)
		case w.Session == Session{id, true} && (!seen || !w.IsUnseen()):
			return nil
		case w.Session.ID != id:
			line.Previous, line.Reason = w.Session.ID, "adopted "+string(id)
		}
		return w.append(line)
	})
}

// Observe switches the memory of the conversation on or off. was is how it was before. Errors: [fs.ErrNotExist].
func (c *Conversation) Observe(ctx context.Context, on bool) (was bool, err error) {
	err = c.change(ctx, func(s *State) (*Line, error) {
		if was = s.Meta.Memory; was == on {
			return nil, nil //nolint:nilnil // there is nothing to change
		}
		meta := s.Meta
		meta.Memory = on
		return &Line{What: Switched, At: time.Now().UTC(), Meta: &meta}, nil
	})
	return was, err
}

// Name gives a session of the conversation a name; "" takes it away. Errors: NotFound when the session is not of the
// conversation; [fs.ErrNotExist].
func (c *Conversation) Name(ctx context.Context, id agent.SessionID, name string) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		if !s.Has(id) {
			return nil, c.errNotOurs(id)
		}
		return &Line{What: Named, At: time.Now().UTC(), Session: id, Name: name}, nil
	})
}

// Has reports whether a session is or was of the conversation.
func (s *State) Has(id agent.SessionID) bool {
	return s.Session.ID == id || slices.ContainsFunc(s.Previous, func(p Previous) bool { return p.ID == id })
}

func (c *Conversation) errNotOurs(id agent.SessionID) error {
	return fail.Errorf(fail.NotFound, "session %s never belonged to this conversation", id).
		Hint("to see its sessions: nbs-worker conversation show %s", c.named())
}

// name names a session, and forgets the names of sessions that the conversation no longer remembers.
func (s *State) name(id agent.SessionID, name string) {
	names := map[agent.SessionID]string{id: name}
	for other, of := range s.Names {
		if other != id && s.Has(other) {
			names[other] = of
		}
	}
	maps.DeleteFunc(names, func(_ agent.SessionID, of string) bool { return of == "" })
	s.Names = names
}

// Permit gives the conversation other rights, from its next turn on. It returns the rights that it had, and whether they
// differ. Errors: [fs.ErrNotExist].
func (c *Conversation) Permit(ctx context.Context, rights Rights) (before Rights, changed bool, err error) {
	err = c.change(ctx, func(s *State) (*Line, error) {
		before, changed = s.Meta.Rights, s.Meta.Rights != rights
		if !changed {
			return nil, nil //nolint:nilnil // there is nothing to change
		}
		meta := s.Meta
		meta.Rights = rights
		return &Line{What: Permitted, At: time.Now().UTC(), Meta: &meta}, nil
	})
	return before, changed, err
}

// Choose makes a model that of the next turns; "" goes back to the conversation's own. Errors: [fs.ErrNotExist].
func (c *Conversation) Choose(ctx context.Context, model agent.Model) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		if s.Model == model {
			return nil, nil //nolint:nilnil // there is nothing to change
		}
		return &Line{What: Chosen, At: time.Now().UTC(), Model: model}, nil
	})
}
