package watching

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// inProject is what is kept for a project with an empty .nbs.
func inProject(t *testing.T) *Watching {
	t.Helper()
	return In(nbs.New(t, Folder), private.Tree(t.TempDir()+"/memories"), "hash")
}

// Who acts by itself takes an error for a pause, and a person can end also one that is damaged.
func TestPauseLastsUntilItIsEnded(t *testing.T) {
	t.Parallel()
	w := inProject(t)
	want := Pause{Since: storetest.SomeTime(), Reason: "moving"}
	rig.Must(t, w.SetPause(want))
	got, err := w.Paused()
	rig.Check(t, err == nil && got != nil && *got == want, "%+v, %v", got, err)
	text := storetest.Read(t, w.PauseFile())
	storetest.Write(t, w.PauseFile(), strings.Replace(text, "moving", "frozen", 1))
	got, err = w.Paused()
	rig.Check(t, err == nil && got == nil && w.IsForeign(), "a pause that came with the project counts: %+v, %v", got, err)
	storetest.Write(t, w.PauseFile(), "{")
	_, err = w.Paused()
	storetest.WantKind(t, "damaged", err, fail.BadInput)
	storetest.WantHint(t, err, "nbs-worker unpause")
	for _, want := range []bool{true, false} {
		was, err := w.EndPause()
		rig.Check(t, err == nil && was == want, "was paused: %v, %v; want %v", was, err, want)
	}
	got, err = w.Paused()
	rig.Check(t, err == nil && got == nil, "%+v, %v", got, err)
}

func TestMemoryOutlivesAWatch(t *testing.T) {
	t.Parallel()
	w := inProject(t)
	var got []string
	rig.Must(t, w.Recall(&got))
	rig.Check(t, got == nil, "before the first: %q", got)
	rig.Must(t, w.Remember([]string{"alpha"}))
	rig.Must(t, w.Recall(&got))
	rig.Check(t, len(got) == 1 && got[0] == "alpha", "%q", got)
	storetest.Write(t, w.memories.Path(w.memory), "{")
	err := w.Recall(&got)
	storetest.WantKind(t, "damaged", err, fail.BadInput)
	storetest.WantHint(t, err, "rm ")
}
