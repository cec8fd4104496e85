package telegram

import (
	"strconv"
	"strings"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// name is the prefix of the keys of chats' conversations.
const name = "telegram"

// ParseKey returns the place of a conversation's key. Errors: BadInput.
func ParseKey(key string) (bridge.Place, error) {
	numbers, is := strings.CutPrefix(key, name+":")
	chat, topic, hasTopic := strings.Cut(numbers, "/")
	if !is || !isNumber(chat) || hasTopic && (!isNumber(topic) || topic == "0") {
		return bridge.Place{}, fail.Errorf(fail.BadInput, "%s is not a chat", human.Quote(key)).
			Hint("for example: telegram:123456789, or telegram:-100123456789/5 for a topic")
	}
	return bridge.Place{Chat: chat, Topic: topic}, nil
}

// isNumber reports whether a text is a number of Telegram, in the form in which keys have it.
func isNumber(text string) bool { return text == numbered(numberOf(text)) }

// numberOf reads a number of Telegram. It returns 0 for any other text.
func numberOf(text string) int64 {
	number, _ := strconv.ParseInt(text, 10, 64)
	return number
}

func numbered(number int64) string { return strconv.FormatInt(number, 10) }

// with adds a place to the parameters of a request.
func with(to bridge.Place, params map[string]any) map[string]any {
	params["chat_id"] = numberOf(to.Chat)
	if to.Topic != "" {
		params["message_thread_id"] = numberOf(to.Topic)
	}
	return params
}
