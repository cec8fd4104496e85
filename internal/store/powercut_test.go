package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// Power cuts, emulated: .nbs lies on a [rig.Disk]. A writer counts up in a record and says each number
// that is safe. What the disk holds must know a number at least as high as the last one said.

func TestPowerCutLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	rig.CutAtRandom(t, "count-up", lost)
}

// The moment right after a number was said is the one at which a missing sync shows.
// These writers lack one, and the method must find out.
func TestPowerCutRightAfterEachWrite(t *testing.T) {
	t.Parallel()
	for role, loses := range map[string]bool{"count-up": false, "count-up-without-folder-sync": true, "count-up-without-sync": true} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			losses := rig.LossesOf(t, role, lost)
			rig.Check(t, (losses > 0) == loses, "%d of 5 cuts lost something", losses)
		})
	}
}

// lost says what is lost of the project, when a number was said.
func lost(project string, said int) string {
	text, err := os.ReadFile(filepath.Join(project, folder, recordPath("alice")))
	if err != nil {
		return fmt.Sprintf("%d was said: %v", said, err)
	}
	var r agent.Record
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Sprintf("%d was said: %v: %q", said, err, text)
	}
	if r.PID < said || r.SessionID != aliceID {
		return fmt.Sprintf("%d was said, the disk has %d", said, r.PID)
	}
	return ""
}
