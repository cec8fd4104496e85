package recover

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// fillTranscripts leaves no room on the disk of the transcripts, which is one of its own.
func (m *team) fillTranscripts() (free func()) {
	m.Helper()
	ballast := filepath.Join(m.World.ConfigDir, "projects", "ballast")
	f, err := os.Create(ballast)
	m.Must(err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	m.Check(errors.Is(err, unix.ENOSPC), "%v", err)
	m.Must(f.Close())
	return func() { m.Must(os.Remove(ballast)) }
}

// A claude that cannot write its transcript looks idle, and forgets all of it when it ends.
func TestTurnsThatAreNotWrittenDown(t *testing.T) {
	m := eachVersion(t)
	rig.PrivateMounts(t).Tmpfs(filepath.Join(m.World.ConfigDir, "projects"), "2m")
	s := m.Remembers("alpha")
	m.Check(m.Session("alpha").Unsaved == "", "%+v", m.Session("alpha"))
	m.Doctor(0).IsWell(m.Team, "team.health")
	w := m.beginWatch()
	free := m.fillTranscripts()
	m.TypeLine(s, "Remember 43.")
	m.MustAnswer("alpha", "OK, I will remember 43.")
	why := "Claude cannot write its transcript: disk full"
	if e2e.OnOldest() {
		why = "the disk of its transcript is full" // its screen says nothing
	}
	m.WaitSession("alpha", "loses its turns", func(s e2e.Session) bool { return s.State == "idle" && strings.Contains(s.Unsaved, why) })
	m.MustSay(m.OK("session", "alpha"), "Not saved:       its turns are being lost: "+why, "Next:            free disk space there, or", ": df -h ")
	r := m.NBS("triage")
	m.MustSay(r.Stdout, "alpha\theld\t", "its turns are being lost: "+why)
	m.Doctor(1).Finds(m.Team, "team.health", "warning", "needs attention: alpha")
	m.MustSay(w.WaitDeed("held", "alpha", 1).Detail, "its turns are being lost: ")
	m.Check(m.Session("alpha").RecordedPID == s.RecordedPID, "watch has ended it")
	m.MustSay(m.NBS("stop", "alpha").Stderr, "stop alpha: the last messages may be lost: "+why)
	played := []string{"NBS_CLAUDE=" + rig.StandIn(t)}
	m.MustSay(m.NBSWith(played, "resume", "alpha").Stderr, "alpha: its turns are being lost: the disk of its transcript is full")
	r = m.NBS("resume", "alpha", "--force", "--prompt", "What number?")
	m.MustRefuse(r, 8, "claude is ready, and the disk of its transcript is full")
	m.MustSay(r.Stderr, "hint: free space on that disk: df -h ")
	free()
}
