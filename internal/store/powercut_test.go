package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// Power cuts, emulated: .nbs lies on a [rig.Disk]. A writer counts up in a record and says each number
// that is safe. What the disk holds must know a number at least as high as the last one said.

const powerCuts = 30

func TestPowerCutLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	d := rig.NewDisk(t)
	running := d.StartWriter("count-up")
	for cut := 0; cut < powerCuts || running.Said() < powerCuts; cut++ { // a busy machine writes little in a moment
		<-time.After(time.Duration(random.IntN(30_000)) * time.Microsecond)
		rig.Equal(t, d.Cut(running, lost), "", "cut %d", cut)
	}
	t.Logf("%d numbers were written", running.Said())
}

// The moment right after a number was said is the one at which a missing sync shows.
// These writers lack one, and the method must find out.
func TestPowerCutRightAfterEachWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role  string
		loses bool
	}{{"count-up", false}, {"count-up-without-folder-sync", true}, {"count-up-without-sync", true}} {
		t.Run(c.role, func(t *testing.T) {
			t.Parallel()
			d := rig.NewDisk(t)
			stepping := d.StartStepwise(c.role)
			losses := 0
			for cut := range 5 {
				stepping.Step()
				if what := d.Cut(stepping, lost); what != "" {
					t.Logf("cut %d: %s", cut, what)
					losses++
				}
			}
			rig.Check(t, (losses > 0) == c.loses, "%d of 5 cuts lost something", losses)
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
