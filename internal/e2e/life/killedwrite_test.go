package life

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A verb is killed before each system call by which a file comes or goes. internal/store does the same to each of its writes
// alone, with all calls.
func TestKilledDismissLeavesTheRecordOrTheJournal(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitDead(m.Launcher("alpha"))
	m.WaitState("alpha", "crashed")
	record := m.RecordText("alpha")
	m.Must(os.Truncate(m.InNbs("journal.jsonl"), 0))
	points := rig.EachKill(m, []string{"renameat", "unlinkat"}, func() (*exec.Cmd, func(bool)) {
		m.WriteRecord("alpha", record)
		return m.Command([]string{"dismiss", "alpha"}), func(killed bool) {
			r := m.NBS("dismiss", "alpha")
			m.Check((r.Code == 0 || r.Code == 2) && (killed || r.Code == 2), "%v", r)
			m.mustBeUntouched(nil)
			m.MustBeInTheJournal("dismiss", "alpha", before.SessionID)
			m.Must(os.Truncate(m.InNbs("journal.jsonl"), 0))
		}
	})
	m.Check(points >= 2, "it can be killed at %d points only", points)
}
