package life

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A verb is killed before each system call that changes a file. internal/store does the
// same to each of its writes alone, and to the calls that only open files.

var changingCalls = []string{"write", "fsync", "renameat", "unlinkat", "mkdirat", "flock", "ftruncate"}

// crashedAlpha is an agent that was killed, and its record.
func (m *team) crashedAlpha() (before e2e.Session, record string) {
	m.Helper()
	before = m.Remembers("alpha")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitDead(m.Launcher("alpha"))
	m.WaitState("alpha", "crashed")
	return before, m.RecordText("alpha")
}

// killEach kills a verb on the crashed agent again and again.
func (m *team) killEach(verb, record string, check func(killed bool)) {
	m.Helper()
	kills := rig.EachKill(m, changingCalls, func() (*exec.Cmd, func(bool)) {
		m.WriteRecord("alpha", record)
		return m.Command([]string{verb, "alpha"}), check
	})
	m.Logf("%s: %d kills", verb, kills)
	m.Check(kills >= 8, "%s was killed %d times only", verb, kills)
}

func TestKilledStopLeavesTheOldOrTheNewRecord(t *testing.T) {
	m := standIn(t)
	before, record := m.crashedAlpha()
	seen := map[string]int{}
	m.killEach("stop", record, func(killed bool) {
		s := m.Session("alpha")
		m.Check(s.SessionID == before.SessionID && (killed || s.Desired == "stopped"), "%+v", s)
		seen[s.Desired]++
		m.OK("stop", "alpha")
		m.mustBeUntouched(map[string]string{"alpha": m.RecordText("alpha")}) // and nothing is left beside it
	})
	m.Check(len(seen) == 2 && seen["running"] != 0 && seen["stopped"] != 0, "records seen, by wish: %v", seen)
	m.MustRemember("alpha", before)
}

func TestKilledDismissLeavesTheRecordOrTheJournal(t *testing.T) {
	m := standIn(t)
	before, record := m.crashedAlpha()
	m.Must(os.Truncate(m.InNbs("journal.jsonl"), 0))
	m.killEach("dismiss", record, func(killed bool) {
		r := m.NBS("dismiss", "alpha")
		m.Check((r.Code == 0 || r.Code == 2) && (killed || r.Code == 2), "%v", r)
		m.mustBeUntouched(nil)
		m.MustBeInTheJournal("dismiss", "alpha", before.SessionID)
		m.Must(os.Truncate(m.InNbs("journal.jsonl"), 0))
	})
}
