package chat

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestNoticeInWords(t *testing.T) {
	t.Parallel()
	for notice, want := range map[string]string{
		`{"event": "held", "handle": "alpha", "detail": "login"}`: "alpha: held: login",
		`{"event": "held", "detail": "the tmux server died"}`:     "held: the tmux server died",
		`{"event": "repaired", "handle": "alpha"}`:                "alpha: repaired",
	} {
		words, err := noticeWords(notice)
		rig.Must(t, err)
		rig.Equal(t, words, want, "words")
	}
}

// A chat splits a long text itself: each message of an agent's says who wrote it.
func TestEachPartOfAnAgentsTextIsSigned(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 7000)
	rig.Equal(t, len(signedParts("", long)), 1, "messages of a person")
	var words strings.Builder
	for _, part := range signedParts("[from]", long) {
		text, signed := strings.CutPrefix(part, "[from]\n")
		rig.Check(t, signed && len([]rune(part)) < 4000, "a part of %d characters begins with %.20q", len([]rune(part)), part)
		words.WriteString(text)
	}
	rig.Check(t, words.String() == long, "the parts are not the text")
}
