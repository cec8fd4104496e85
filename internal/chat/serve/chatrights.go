package serve

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"nbs-worker/internal/store/conversations"
)

// What Claude may do in a chat is the bot's and not the conversation's: it counts from the next turn on, also for texts
// that wait, and without a reset.

// Permit gives all chats that were begun before what the bot permits. It is called before any turn is run, because a
// waiting text of a chat must not get more than the bot permits now.
func (c *Chats) Permit(ctx context.Context) error {
	keys, _ := c.Server.Engine.Project.Store.Conversations().Keys() // a turn of an unreadable one cannot be run
	for _, key := range keys {
		if !isChat(key) {
			continue
		}
		if err := c.permit(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// isChat reports whether a conversation is that of a chat, of whatever system, also of one that is not connected now.
func isChat(key conversations.Key) bool {
	return strings.HasPrefix(string(key), "telegram:") || strings.HasPrefix(string(key), "matrix:")
}

// permit gives one chat what the bot permits, if the chat exists.
func (c *Chats) permit(ctx context.Context, key conversations.Key) error {
	before, changed, err := c.Server.Engine.Project.Store.Conversations().Of(key).Permit(ctx, c.Rights)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if changed {
		c.Server.Said("%s: what Claude may do: %s; before: %s", key, c.Rights, before)
	}
	return err
}
