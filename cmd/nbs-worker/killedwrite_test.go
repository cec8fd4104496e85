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
	m.check(kills >= 8, "%s was killed %d times only", verb, kills)
}

func TestKilledStopLeavesTheOldOrTheNewRecord(t *testing.T) {
	m := standIn(t)
	before, record := m.crashedAlpha()
	seen := map[string]int{}
	m.killEach("stop", record, func(killed bool) {
		s := m.session("alpha")
		m.check(s.SessionID == before.SessionID && (killed || s.Desired == "stopped"), "%+v", s)
		seen[s.Desired]++
		m.ok("stop", "alpha")
		m.mustBeUntouched(map[string]string{"alpha": m.recordText("alpha")}) // and nothing is left beside it
	})
	m.check(len(seen) == 2 && seen["running"] != 0 && seen["stopped"] != 0, "records seen, by wish: %v", seen)
	m.mustRemember("alpha", before)
}

func TestKilledDismissLeavesTheRecordOrTheJournal(t *testing.T) {
	m := standIn(t)
	before, record := m.crashedAlpha()
	m.must(os.Truncate(m.inNbs("journal.jsonl"), 0))
	m.killEach("dismiss", record, func(killed bool) {
		r := m.nbs("dismiss", "alpha")
		m.check((r.code == 0 || r.code == 2) && (killed || r.code == 2), "%v", r)
		m.mustBeUntouched(nil)
		m.mustBeInTheJournal("dismiss", "alpha", before.SessionID)
		m.must(os.Truncate(m.inNbs("journal.jsonl"), 0))
	})
}
