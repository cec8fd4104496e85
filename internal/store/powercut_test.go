package store

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// Power cuts, emulated: .nbs lies on a file system in an image file. A writer counts up
// in a record and says each number that is safe. At some moment it is stopped and the
// image is copied: that is what the disk would hold. The copy must know a number at
// least as high as the last one said.

const (
	powerCuts = 30
	imageSize = 16 << 20
)

func TestPowerCutLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	d := newDisk(t)
	running := d.startWriter("count-up")
	for cut := 0; cut < powerCuts || running.said() < powerCuts; cut++ { // a busy machine writes little in a moment
		<-time.After(time.Duration(random.IntN(30_000)) * time.Microsecond)
		rig.Equal(t, d.cut(running, cut), "", "cut %d", cut)
	}
	t.Logf("%d numbers were written", running.said())
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
			d := newDisk(t)
			stepping := d.startWriter(c.role, "stepwise")
			lost := 0
			for cut := range 5 {
				stepping.step()
				if what := d.cut(stepping, cut); what != "" {
					t.Logf("cut %d: %s", cut, what)
					lost++
				}
			}
			rig.Check(t, (lost > 0) == c.loses, "%d of 5 cuts lost something", lost)
		})
	}
}

// disk is a file system in an image file, with a project on it.
type disk struct {
	t       *testing.T
	mounts  rig.Mounts
	image   string
	project string
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	rig.Needs(t, "mke2fs")
	dir := rig.ShortDir(t)
	d := &disk{t: t, mounts: rig.PrivateMounts(t), image: filepath.Join(dir, "image"), project: filepath.Join(dir, "disk", "project")}
	rig.Must(t, os.WriteFile(d.image, nil, 0o600))
	rig.Must(t, os.Truncate(d.image, imageSize))
	if out, err := exec.Command("mke2fs", "-q", "-F", "-t", "ext4", d.image).CombinedOutput(); err != nil {
		t.Fatalf("mke2fs: %v: %s", err, out)
	}
	d.mounts.Image(d.image, filepath.Dir(d.project))
	return d
}

// cut copies what the disk holds and says what is lost of it.
func (d *disk) cut(w *writer, number int) (lost string) {
	d.t.Helper()
	w.stop()
	defer w.goOn()
	said := w.said()
	copied := fmt.Sprintf("%s.%d", d.image, number)
	storetest.Write(d.t, copied, storetest.Read(d.t, d.image))
	defer func() { _ = os.Remove(copied) }()
	at := filepath.Join(filepath.Dir(d.image), fmt.Sprintf("copy%d", number))
	d.mounts.Image(copied, at)
	defer d.mounts.Unmount(at)
	text, err := os.ReadFile(filepath.Join(at, "project", folder, recordPath("alice")))
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
