package serve

import (
	"context"

	"nbs-worker/internal/store/conversations"
)

// deliver writes a text to a chat with tell, and records it for the chat's conversation, so that Claude knows what the
// user refers to. by names who wrote it.
func (s *Server) deliver(ctx context.Context, to, by, text string, tell func(ctx context.Context, to, text string) error) error {
	to = s.home(to)
	if err := tell(ctx, to, text); err != nil {
		return err
	}
	meta, err := s.Engine.Founding()
	if err == nil {
		err = s.Engine.Project.Store.Conversations().Of(conversations.Key(to)).
			Tell(context.WithoutCancel(ctx), meta, conversations.Told{By: by, At: s.Engine.Project.Now().UTC(), Text: text})
	}
	if err != nil { // the chat has it
		s.Said("%s: Claude will not know what the chat was sent: %s", to, err)
	}
	return nil
}
