package life

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

var changingCalls = []string{"write", "fsync", "renameat", "unlinkat", "mkdirat", "flock", "ftruncate"}

// A verb is killed before each system call that changes a file. internal/store does the same to each of its writes
// alone, and to the calls that only open files.
func TestKilledDismissLeavesTheRecordOrTheJournal(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitDead(m.Launcher("alpha"))
	m.WaitState("alpha", "crashed")
	record := m.RecordText("alpha")
	m.Must(os.Truncate(m.InNbs("journal.jsonl"), 0))
	kills := rig.EachKill(m, changingCalls, func() (*exec.Cmd, func(bool)) {
		m.WriteRecord("alpha", record)
		return m.Command([]string{"dismiss", "alpha"}), func(killed bool) {
			r := m.NBS("dismiss", "alpha")
			m.Check((r.Code == 0 || r.Code == 2) && (killed || r.Code == 2), "%v", r)
			m.mustBeUntouched(nil)
			m.MustBeInTheJournal("dismiss", "alpha", before.SessionID)
			m.Must(os.Truncate(m.InNbs("journal.jsonl"), 0))
		}
	})
	m.Check(kills >= 8, "it was killed %d times only", kills)
}
