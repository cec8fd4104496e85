package chat

import (
	"os"
	"testing"

	"github.com/gofrs/flock"

	"nbs-worker/internal/sim/rig"
)

// An agent that was started without a prompt has no transcript to lock: its launcher locks it at the end of the first
// turn, so that no other project opens the conversation beside it.
func TestTranscriptIsLockedAfterTheFirstTurn(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("send", "alpha", "Remember 42.", "--wait-reply")
	lock := flock.New(m.transcriptOf(m.Session("alpha").SessionID), flock.SetFlag(os.O_RDONLY))
	defer lock.Close()
	rig.Eventually(t, "the transcript is locked", func() bool {
		free, err := lock.TryLock()
		m.Must(err)
		if free {
			m.Must(lock.Unlock())
		}
		return !free
	})
}
