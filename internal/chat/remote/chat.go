package remote

import (
	"strconv"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Chat returns the number of a Telegram chat from the key of its conversation. Errors: BadInput.
func Chat(key string) (int64, error) {
	number, is := strings.CutPrefix(key, "telegram:")
	chat, err := strconv.ParseInt(number, 10, 64)
	if !is || err != nil {
		return 0, fail.Errorf(fail.BadInput, "%s is not a chat", human.Quote(key)).Hint("for example: telegram:123456789")
	}
	return chat, nil
}
