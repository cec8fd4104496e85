package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Claude deletes transcripts after some weeks, and people by mistake. The archive keeps them.

// keptPath is where the archive has a conversation.
func (m *team) keptPath(id string) string { return m.inState("transcripts", id+".jsonl") }

func (m *team) mustBeKept(id, path string) {
	m.Helper()
	if !sameFile(m.T, m.keptPath(id), path) {
		m.Errorf("%s is no second name of %s", m.keptPath(id), path)
	}
	mode := modeOf(m.T, m.inState("transcripts"))
	m.check(mode == 0o700, "the folder has mode %o", mode)
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

// lose deletes a transcript and what is kept of it.
func (m *team) lose(s session) {
	m.Helper()
	for _, path := range []string{s.Transcript.Path, m.keptPath(s.SessionID)} {
		m.must(os.Remove(path))
	}
}

// mustRestore resumes an agent whose transcript is gone and hears the number from it.
func (m *team) mustRestore(handle string, before session) {
	m.Helper()
	var said struct {
		SessionID string `json:"session_id"`
		Opened    string
		Restored  *struct{ From, To, Written string }
	}
	m.must(json.Unmarshal([]byte(m.ok("resume", handle, "--prompt", "What number?", "--json")), &said))
	if said.SessionID != before.SessionID || said.Opened != "resumed" || said.Restored == nil ||
		said.Restored.To != before.Transcript.Path || said.Restored.From != m.keptPath(before.SessionID) {
		m.Errorf("resumed as %+v", said)
	}
	m.mustAnswer(handle, "42")
	m.mustBeInTheJournal("restored", handle, before.SessionID)
	mode := modeOf(m.T, before.Transcript.Path)
	m.check(mode == 0o600, "the transcript has mode %o", mode)
}

func TestDeletedTranscriptComesBack(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	m.mustBeKept(before.SessionID, before.Transcript.Path)
	m.ok("stop", "alpha")
	m.must(os.Remove(before.Transcript.Path))
	m.mustRestore("alpha", before)
	m.mustBeKept(before.SessionID, before.Transcript.Path)

	m.ok("stop", "alpha")
	folder := filepath.Dir(filepath.Dir(before.Transcript.Path))
	m.must(os.RemoveAll(folder))
	r := m.nbs("resume", "alpha", "--prompt", "What number?")
	m.check(r.code == 0 && strings.Contains(r.stderr, "its transcript was gone; the whole one was put back from "+m.keptPath(before.SessionID)), "%v", r)
	m.mustAnswer("alpha", "42")
	for _, made := range []string{folder, filepath.Dir(before.Transcript.Path)} {
		mode := modeOf(t, made)
		m.check(mode == 0o700, "%s has mode %o", made, mode)
	}
}

// The record was made by a verb that did not wait, and both who could have seen to the
// transcript were killed: the next look does.
func TestDeletedTranscriptAfterAKill(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.keepServer()
	m.kill(m.launcher("alpha"), syscall.SIGKILL)
	m.waitDead(before.RecordedPID)
	m.must(os.RemoveAll(filepath.Dir(before.Transcript.Path)))
	m.waitDeath("alpha")
	m.mustRestore("alpha", before)
}

// A transcript that is deleted under a running claude goes on in a new file, which does not
// know what came before. Resume puts both together.
func TestTranscriptThatIsDeletedInTheMiddle(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		before := m.remembers("alpha")
		for _, line := range []string{"What day is it?", "And tomorrow?"} {
			m.must(os.Remove(before.Transcript.Path))
			m.typeLine(before, line)
			m.waitFor("it is written again", func() (bool, string) {
				text, err := os.ReadFile(before.Transcript.Path)
				return strings.Contains(string(text), line), fmt.Sprint(string(text), err)
			})
			m.waitState("alpha", "idle")
		}
		m.ok("stop", "alpha")
		if strings.Contains(read(t, before.Transcript.Path), "Remember 42.") {
			t.Fatal("claude wrote all of it again")
		}
		r := m.nbs("resume", "alpha", "--prompt", "What number?")
		m.check(r.code == 0 && strings.Contains(r.stderr, "was put back from"), "%v", r)
		m.mustAnswer("alpha", "42")
		m.mustBeInTheJournal("restored", "alpha", before.SessionID)
		m.mustBeKept(before.SessionID, before.Transcript.Path)
	})
}

// After a /clear both conversations are kept, and each can be taken up again.
func TestBothConversationsAreKeptAfterClear(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	m.typeLine(before, "/clear")
	cleared := m.waitMoved(before, "clear")
	m.waitArrived("alpha")
	m.typeLine(before, "Remember 77.")
	m.mustAnswer("alpha", "OK, I will remember 77.")
	m.ok("stop", "alpha")
	after := m.session("alpha")
	if after.SessionID != cleared.SessionID || len(after.PreviousSessions) != 1 || after.PreviousSessions[0].SessionID != before.SessionID {
		t.Fatalf("the record did not follow: before %+v\nafter %+v", before, after)
	}
	m.mustBeKept(before.SessionID, before.Transcript.Path)
	m.mustBeKept(after.SessionID, after.Transcript.Path)
	m.must(os.RemoveAll(filepath.Dir(before.Transcript.Path)))
	m.ok("resume", "alpha", "--prompt", "What number?")
	m.mustAnswer("alpha", "77")
	m.ok("dismiss", "alpha", "--keep")
	m.ok("spawn", "beta", "--model", "sonnet", "--session-id", before.SessionID, "--prompt", "What number?")
	m.mustAnswer("beta", "42")
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	rig.Must(t, err)
	return string(data)
}

// What lies in the project, from a clone, is put back by nobody.
func TestTranscriptInTheProjectIsNotPutBack(t *testing.T) {
	m := standIn(t)
	s := m.remembers("alpha")
	m.ok("stop", "alpha")
	planted := m.inNbs("transcripts", s.SessionID+".jsonl")
	m.must(os.Mkdir(filepath.Dir(planted), 0o700))
	m.must(os.WriteFile(planted, []byte(strings.ReplaceAll(read(t, s.Transcript.Path), "42", "66")), 0o600))
	m.lose(s)
	r := m.refused(2, s.SessionID, "resume", "alpha")
	m.check(!exists(s.Transcript.Path) && exists(planted), "%v", r)
}
