package observe

import (
	"os"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// A move in the record counts even if the journal could not be written: a caller with the earlier record would hold
// the wrong conversation.
func TestMoveThatIsNotJournaledCounts(t *testing.T) {
	t.Parallel()
	opened := storeWithLive(t, "alpha", os.Getpid())
	before, err := opened.Load("alpha")
	rig.Must(t, err)
	rig.Must(t, os.RemoveAll(opened.Journal().Path()))
	rig.Must(t, os.Mkdir(opened.Journal().Path(), 0o700))
	entry := live.Entry{PID: os.Getpid(), Start: live.StartAt(before.Process.StartTicks), SessionID: agent.NewSessionID(), WrittenMS: time.Now().UnixMilli()}
	now, moved := MoveSeen(t.Context(), local.New(), opened, &before, entry, agent.Report{}, time.Now())
	rig.Check(t, moved && now.SessionID == entry.SessionID, "moved %t, to %s; want to %s", moved, now.SessionID, entry.SessionID)
	recorded, err := opened.Load("alpha")
	rig.Check(t, err == nil && recorded.SessionID == entry.SessionID, "recorded is %s, %v", recorded.SessionID, err)
}
