package cli

import (
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
