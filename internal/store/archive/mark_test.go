package archive

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
)

// Hooks run side by side: the mark of one that looked later stays, or what is cut off behind the earlier one would
// not be noticed.
func TestMarkIsNotMovedBack(t *testing.T) {
	t.Parallel()
	s := withTranscript(t, said)
	mustKeep(t, s)
	var looks [2]*private.OwnFile // an earlier and a later one
	for i := range looks {
		appendTo(t, original(s), "more\n")
		var err error
		looks[i], err = private.OpenOwn(nil, original(s))
		rig.Must(t, err)
		defer looks[i].Close()
	}
	unlock, err := s.kept.Lock(t.Context())
	rig.Must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.remark(t.Context(), aliceID, looks[0]) }()
	var lock unix.Stat_t
	rig.Must(t, unix.Stat(keptAt(s)+".lock", &lock))
	rig.Eventually(t, "the earlier one waits for the lock", func() bool {
		locks, err := os.ReadFile("/proc/locks")
		rig.Must(t, err)
		for line := range strings.Lines(string(locks)) {
			if strings.Contains(line, "-> FLOCK") && strings.Contains(line, fmt.Sprintf(":%d ", lock.Ino)) {
				return true
			}
		}
		return false
	})
	rig.Must(t, s.noteOrigin(aliceID, looks[1]))
	unlock()
	rig.Must(t, <-ended)
	rig.Equal(t, s.originOf(aliceID).Size, looks[1].Seen.Size, "the mark is at")
}
