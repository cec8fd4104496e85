package bridge

// key returns the key of a place's conversation.
func (b *Bridge) key(p Place) string {
	key := b.traits.Name + ":" + p.Chat
	if p.Topic != "" {
		key += "/" + p.Topic
	}
	return key
}

// String returns the place in words.
func (p Place) String() string {
	if p.Topic != "" {
		return "topic " + p.Topic + " of chat " + p.Chat
	}
	return "chat " + p.Chat
}

// isGroup reports whether several people are in a chat.
func (b *Bridge) isGroup(chat string) bool { return b.System.Owner(chat) == "" }
