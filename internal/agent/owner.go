package agent

import "strings"

// conversationPrefix begins the name of a conversation in a place where a handle is expected. No handle has a colon.
const conversationPrefix = "conversation:"

// OfConversation returns the name under which the conversation of a key is remembered, in the place of a handle.
func OfConversation(key string) Handle { return Handle(conversationPrefix + key) }

// Conversation returns the key of the conversation that the name stands for. is is false for an agent's handle.
func (h Handle) Conversation() (key string, is bool) {
	return strings.CutPrefix(string(h), conversationPrefix)
}

// Name returns the handle, or the key of a conversation, for people.
func (h Handle) Name() string {
	key, _ := h.Conversation()
	return key
}
