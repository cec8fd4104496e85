package message

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Where a person has added to a text of ours, that is deleted character by character: not if Claude joins some of them.
func TestOursIsBeforeAPersonsWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"hello": true, "日本 😀": true, "": false,
		"का": false, "\U0001f1e9\U0001f1ea": false, "e\u0301": false, "ทำ": false, "👍🏽": false, "👩\u200d💻": false,
	} {
		rig.Check(t, isBefore(text, text+" mine") == want, "%q is deleted: %t", text, !want)
		rig.Check(t, !isBefore(text, text+" mine\nof two lines"), "%q is deleted from a draft of two lines", text)
	}
	rig.Check(t, !isBefore("hello", "mine, hello"), "what is before ours is deleted")
}
