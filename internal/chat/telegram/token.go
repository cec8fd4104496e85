package telegram

import (
	"strings"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
)

// TokenVariable is where the token is when no file is named. Conversations and agents do not inherit it.
const TokenVariable = "NBS_TELEGRAM_TOKEN" //nolint:gosec // its name

// Token is a bot's token: its owner controls the bot. It prints as stars.
type Token struct{ text string }

// String keeps the token out of printed text.
func (Token) String() string { return "***" }

// GoString does the same for %#v.
func (Token) GoString() string { return "***" }

// isToken reports whether a text has the form of a token. Only such a text may become part of a request's path.
func isToken(text string) bool {
	const digits, letters = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
	number, secret, _ := strings.Cut(text, ":")
	return number != "" && strings.Trim(number, digits) == "" && secret != "" && strings.Trim(secret, digits+letters) == ""
}

// ReadToken reads the token from a file, or from TokenVariable when file is empty. Errors: NotFound, BadInput.
func ReadToken(file string) (Token, error) {
	text, where, err := bridge.ReadSecret("token of Telegram", file, TokenVariable)
	if err != nil {
		return Token{}, err
	}
	token := Token{text}
	switch {
	case token.text == "":
		return Token{}, fail.Errorf(fail.NotFound, "read token of Telegram: %s is empty", where).
			Hint("get one from @BotFather, put it into a file that only you can read, and name the file").
			Hint("or set the bot up step by step: nbs-worker serve setup telegram")
	case !isToken(token.text):
		return Token{}, fail.Errorf(fail.BadInput, "read token of Telegram: %s contains no token (a number, a colon, and letters)", where)
	}
	return token, nil
}

// hide removes the token from a text. Its first part is the bot's number, which is public. Only the second part is
// searched for, since the colon between them is written in several ways.
func (t Token) hide(text string) string {
	_, secret, _ := strings.Cut(t.text, ":")
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "***")
}
