package matrix

import (
	"strings"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
)

// TokenVariable is where the token is when no file is named. Conversations and agents do not inherit it.
const TokenVariable = "NBS_MATRIX_TOKEN" //nolint:gosec // its name

// Token is the access token of the bot's session: its owner controls the bot. It prints as stars.
type Token struct{ text string }

// String keeps the token out of printed text.
func (Token) String() string { return "***" }

// GoString does the same for %#v.
func (Token) GoString() string { return "***" }

// ReadToken reads the token from a file, or from TokenVariable when file is empty. Errors: NotFound, BadInput.
func ReadToken(file string) (Token, error) {
	text, where, err := bridge.ReadSecret("token of Matrix", file, TokenVariable)
	if err != nil {
		return Token{}, err
	}
	const shortest = 8 // letters: it is searched for in texts
	switch {
	case text == "":
		return Token{}, fail.Errorf(fail.NotFound, "read token of Matrix: %s is empty", where).
			Hint("log the bot in, put its access token into a file that only you can read, and name the file with --matrix-token-file")
	case len(text) < shortest || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Token{}, fail.Errorf(fail.BadInput, "read token of Matrix: %s contains no access token (one word of letters and digits)", where)
	}
	return Token{text}, nil
}

// hide removes the token from a text.
func (t Token) hide(text string) string {
	if t.text == "" {
		return text
	}
	return strings.ReplaceAll(text, t.text, "***")
}
