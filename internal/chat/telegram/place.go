package telegram

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// keyPrefix is the prefix of the key of a chat's conversation.
const keyPrefix = "telegram:"

// Place is where messages are written: a chat, or a topic of a chat. Each has a conversation of its own.
type Place struct{ chat, topic int64 } // topic 0: a chat without topics, or its General topic

// ParseKey returns the place of a conversation's key. Errors: BadInput.
func ParseKey(key string) (Place, error) {
	numbers, is := strings.CutPrefix(key, keyPrefix)
	chat, topic, hasTopic := strings.Cut(numbers, "/")
	var p Place
	var err error
	p.chat, err = strconv.ParseInt(chat, 10, 64)
	if is && err == nil && hasTopic {
		p.topic, err = strconv.ParseInt(topic, 10, 64)
	}
	if !is || err != nil || p.key() != key {
		return Place{}, fail.Errorf(fail.BadInput, "%s is not a chat", human.Quote(key)).
			Hint("for example: telegram:123456789, or telegram:-100123456789/5 for a topic")
	}
	return p, nil
}

func (p Place) key() string {
	key := keyPrefix + strconv.FormatInt(p.chat, 10)
	if p.topic != 0 {
		key += "/" + strconv.FormatInt(p.topic, 10)
	}
	return key
}

// String returns the place in words.
func (p Place) String() string {
	if p.topic != 0 {
		return fmt.Sprintf("topic %d of chat %d", p.topic, p.chat)
	}
	return fmt.Sprintf("chat %d", p.chat)
}

// with returns the parameters of a request about the place.
func (p Place) with(params map[string]any) map[string]any {
	all := maps.Clone(params)
	all["chat_id"] = p.chat
	if p.topic != 0 {
		all["message_thread_id"] = p.topic
	}
	return all
}
