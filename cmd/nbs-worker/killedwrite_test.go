package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A verb is killed before each system call that changes a file. internal/store does the
// same to each of its writes alone, and to the calls that only open files.

var changingCalls = []string{"write", "fsync", "renameat", "unlinkat", "mkdirat", "flock", "ftruncate"}

// crashedAlpha is an agent that was killed, and its record.
func (m *team) crashedAlpha() (before session, record string) {
	m.Helper()
	before = m.remembers("alpha")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitDead(m.launcher("alpha"))
	m.waitState("alpha", "crashed")
	return before, m.recordText("alpha")
}

// killEach kills a verb on the crashed agent again and again.
func (m *team) killEach(verb, record string, check func(killed bool)) {
	m.Helper()
	kills := rig.EachKill(m, changingCalls, func() (*exec.Cmd, func(bool)) {
		m.writeRecord("alpha", record)
		return m.command([]string{verb, "alpha"}), check
	})
	m.Logf("%s: %d kills", verb, kills)
	if kills < 8 {
		m.Errorf("%s was killed %d times only", verb, kills)
	}
}

func TestKilledStopLeavesTheOldOrTheNewRecord(t *testing.T) {
	m := standIn(t)
	before, record := m.crashedAlpha()
	seen := map[string]int{}
	m.killEach("stop", record, func(killed bool) {
		s := m.session("alpha")
		if s.SessionID != before.SessionID || !killed && s.Desired != "stopped" {
			t.Errorf("%+v", s)
		}
		seen[s.Desired]++
		m.ok("stop", "alpha")
		m.mustBeUntouched(map[string]string{"alpha": m.recordText("alpha")}) // and nothing is left beside it
	})
	if len(seen) != 2 || seen["running"] == 0 || seen["stopped"] == 0 {
		t.Errorf("records seen, by wish: %v", seen)
	}
	m.mustRemember("alpha", before)
}

func TestKilledDismissLeavesTheRecordOrTheJournal(t *testing.T) {
	m := standIn(t)
	before, record := m.crashedAlpha()
	if err := os.Truncate(m.inNbs("journal.jsonl"), 0); err != nil {
		t.Fatal(err)
	}
	m.killEach("dismiss", record, func(killed bool) {
		r := m.nbs("dismiss", "alpha")
		if r.code != 0 && r.code != 2 || !killed && r.code != 2 {
			t.Error(r)
		}
		m.mustBeUntouched(nil)
		m.mustBeInTheJournal("dismiss", "alpha", before.SessionID)
		if err := os.Truncate(m.inNbs("journal.jsonl"), 0); err != nil {
			t.Fatal(err)
		}
	})
}
