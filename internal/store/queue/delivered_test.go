package queue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// What waits can be taken back from under a deliverer, which then cannot begin to type it; what is being typed cannot.
func TestEntryIsTakenBack(t *testing.T) {
	t.Parallel()
	q, _ := inFolder(t)
	waits := add(t, q, "waits", Waiting)
	now, err := q.TakeBack(t.Context(), waits)
	rig.Check(t, err == nil && now.State == Waiting && q.Newest() == "", "%+v, %v, %q is left", now, err, q.Newest())
	waits.State = Sending
	rig.Check(t, errors.Is(q.Put(t.Context(), waits), fs.ErrNotExist), "it can be typed")
	typed := add(t, q, "is typed", Sending)
	now, err = q.TakeBack(t.Context(), typed)
	rig.Check(t, err == nil && now.State == Sending && q.Newest() == typed.name, "%+v, %v", now, err)
	_, err = q.TakeBack(t.Context(), waits) // whose place the other has
	rig.Check(t, errors.Is(err, fs.ErrNotExist) && q.Newest() == typed.name, "%v", err)
}

// An entry that has gone was delivered, with the file that has its text, or was dropped.
func TestEntryThatWasDelivered(t *testing.T) {
	t.Parallel()
	q, _ := inFolder(t)
	typed, byFile, dropped := add(t, q, "typed", Waiting), add(t, q, "by a file", Waiting), add(t, q, "dropped", Waiting)
	byFile.Typing = &Typing{Channel: "file", File: "/p/.nbs/messages/x.md"}
	rig.Must(t, q.Deliver(t.Context(), typed))
	rig.Must(t, q.Deliver(t.Context(), byFile))
	rig.Must(t, q.Remove(t.Context(), dropped))
	for id, want := range map[string]string{typed.ID: " true", byFile.ID: "x.md true", dropped.ID: " false"} {
		file, was := q.WasDelivered(id)
		rig.Equal(t, fmt.Sprint(file, " ", was), want, "%s", id)
	}
	rig.Check(t, slices.Equal(q.delivered(), []string{typed.ID, byFile.ID}), "%v", q.delivered())
}
