package remote

import (
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
)

// Chat is the number of a chat of Telegram, by the key of its conversation. Errors: BadInput.
func Chat(key string) (int64, error) {
	number, is := strings.CutPrefix(key, "telegram:")
	chat, err := strconv.ParseInt(number, 10, 64)
	if !is || err != nil {
		return 0, agent.Errorf(agent.BadInput, "%s is no chat", agent.Quote(key)).Hint("for example: telegram:123456789")
	}
	return chat, nil
}
