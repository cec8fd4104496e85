package queue

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// What was delivered and comes back, as from a backup, is not delivered again.
func TestDeliveredEntryThatComesBack(t *testing.T) {
	t.Parallel()
	q, folder := inFolder(t)
	e, err := q.Add(t.Context(), Entry{Text: "Go on.", State: Waiting})
	rig.Must(t, err)
	file := filepath.Join(folder, e.name)
	kept := storetest.Read(t, file)
	rig.Check(t, q.IsDue(&e) && q.Due() == e.name, "a new entry is not due")
	rig.Must(t, q.Deliver(t.Context(), e))
	rig.Must(t, os.WriteFile(file, []byte(kept), 0o600))
	rig.Check(t, !q.IsDue(&e) && q.Due() == "", "it is due again")
	other, err := q.Add(t.Context(), Entry{Text: "Go on.", State: Waiting})
	rig.Must(t, err)
	rig.Check(t, q.IsDue(&other), "the same text, sent again, is not due")
}
