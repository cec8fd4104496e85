package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

func (m *team) mustBeKept(id, path string) {
	m.Helper()
	if !sameFile(m.T, m.KeptPath(id), path) {
		m.Errorf("%s is no second name of %s", m.KeptPath(id), path)
	}
	mode := modeOf(m.T, m.InState("transcripts"))
	m.Check(mode == 0o700, "the folder has mode %o", mode)
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	return os.SameFile(infoA, infoB)
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	rig.Must(t, err)
	return info.Mode().Perm()
}

// mustRestore resumes an agent whose transcript is gone and hears the number from it.
func (m *team) mustRestore(handle string, before e2e.Session) {
	m.Helper()
	var said struct {
		SessionID string `json:"session_id"`
		Opened    string
		Restored  *struct{ From, To, Written string }
	}
	m.Must(e2e.One(m.OK("resume", handle, "--prompt", "What number?", "--json"), &said))
	if said.SessionID != before.SessionID || said.Opened != "resumed" || said.Restored == nil ||
		said.Restored.To != before.Transcript.Path || said.Restored.From != m.KeptPath(before.SessionID) {
		m.Errorf("resumed as %+v", said)
	}
	m.MustAnswer(handle, "42")
	m.MustBeInTheJournal("restored", handle, before.SessionID)
	mode := modeOf(m.T, before.Transcript.Path)
	m.Check(mode == 0o600, "the transcript has mode %o", mode)
}

func TestDeletedTranscriptComesBack(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.mustBeKept(before.SessionID, before.Transcript.Path)
	m.OK("stop", "alpha")
	m.Must(os.Remove(before.Transcript.Path))
	m.mustRestore("alpha", before)
	m.mustBeKept(before.SessionID, before.Transcript.Path)

	m.OK("stop", "alpha")
	folder := filepath.Dir(filepath.Dir(before.Transcript.Path))
	m.Must(os.RemoveAll(folder))
	r := m.NBS("resume", "alpha", "--prompt", "What number?")
	m.Check(r.Code == 0 && strings.Contains(r.Stderr, "its transcript was gone; it was restored from "+m.KeptPath(before.SessionID)), "%v", r)
	m.MustAnswer("alpha", "42")
	for _, made := range []string{folder, filepath.Dir(before.Transcript.Path)} {
		mode := modeOf(t, made)
		m.Check(mode == 0o700, "%s has mode %o", made, mode)
	}
}

// The record was made by a verb that did not wait, and both who could have seen to the
// transcript were killed: the next look does.
func TestDeletedTranscriptAfterAKill(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.KeepServer()
	m.Kill(m.Launcher("alpha"), syscall.SIGKILL)
	m.WaitDead(before.RecordedPID)
	m.Must(os.RemoveAll(filepath.Dir(before.Transcript.Path)))
	m.WaitDeath("alpha")
	m.mustRestore("alpha", before)
}

// A transcript that is deleted under a running claude continues in a new file, which does not
// know what came before. Resume puts both together.
func TestTranscriptThatIsDeletedInTheMiddle(t *testing.T) {
	m := eachVersion(t)
	before := m.Remembers("alpha")
	for _, line := range []string{"What day is it?", "And tomorrow?"} {
		m.Must(os.Remove(before.Transcript.Path))
		m.TypeLine(before, line)
		m.WaitFor("it is written again", func() (bool, string) {
			text, err := os.ReadFile(before.Transcript.Path)
			return strings.Contains(string(text), line), fmt.Sprint(string(text), err)
		})
		m.WaitState("alpha", "idle")
	}
	m.OK("stop", "alpha")
	if strings.Contains(e2e.Read(t, before.Transcript.Path), "Remember 42.") {
		t.Fatal("claude wrote all of it again")
	}
	r := m.NBS("resume", "alpha", "--prompt", "What number?")
	m.Check(r.Code == 0 && strings.Contains(r.Stderr, "it was restored from"), "%v", r)
	m.MustAnswer("alpha", "42")
	m.MustBeInTheJournal("restored", "alpha", before.SessionID)
	m.mustBeKept(before.SessionID, before.Transcript.Path)
}

// After a /clear both conversations are kept, and each can be taken up again.
func TestBothConversationsAreKeptAfterClear(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.TypeLine(before, "/clear")
	cleared := m.WaitMoved(before, "clear")
	m.WaitArrived("alpha")
	m.TypeLine(before, "Remember 77.")
	m.MustAnswer("alpha", "OK, I will remember 77.")
	m.OK("stop", "alpha")
	after := m.Session("alpha")
	if after.SessionID != cleared.SessionID || len(after.PreviousSessions) != 1 || after.PreviousSessions[0].SessionID != before.SessionID {
		t.Fatalf("the record did not follow: before %+v\nafter %+v", before, after)
	}
	m.mustBeKept(before.SessionID, before.Transcript.Path)
	m.mustBeKept(after.SessionID, after.Transcript.Path)
	m.Must(os.RemoveAll(filepath.Dir(before.Transcript.Path)))
	m.OK("resume", "alpha", "--prompt", "What number?")
	m.MustAnswer("alpha", "77")
	m.OK("dismiss", "alpha", "--keep")
	m.Check(!e2e.Exists(m.InNbs("status", "alpha.json")), "its status is left")
	m.OK("spawn", "beta", "--model", "sonnet", "--session-id", before.SessionID, "--prompt", "What number?")
	m.MustAnswer("beta", "42")
}
