package turnfiles

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
)

// What is to be told once is told once, to the process that it is for.
func TestTake(t *testing.T) {
	t.Parallel()
	folder := private.Tree(filepath.Join(t.TempDir(), "turns"))
	mine, another := In(folder, "mine"), In(folder, "another")
	taken := func(f Files) string {
		text, err := f.Take(Briefing)
		rig.Must(t, err)
		return text
	}
	rig.Equal(t, taken(mine), "", "before there is any")
	_, err := mine.Put(Briefing, "Where you had come to.")
	rig.Must(t, err)
	rig.Check(t, mine.Has(Briefing) && !another.Has(Briefing) && taken(another) == "", "it is another's")
	rig.Equal(t, taken(mine), "Where you had come to.", "taken")
	rig.Check(t, !mine.Has(Briefing) && taken(mine) == "", "it is taken again")
}

// What a process has left that was killed goes when it is old and the process is gone, also what was not finished.
func TestSweep(t *testing.T) {
	t.Parallel()
	folder := private.Tree(filepath.Join(t.TempDir(), "turns"))
	for _, name := range []string{"gone", "there", "new"} {
		_, err := In(folder, name).Put(Context, "x")
		rig.Must(t, err)
	}
	storetest.Write(t, folder.Path(".gone.context123"), "half")
	now := time.Now().Add(old + time.Minute)
	rig.Must(t, os.Chtimes(folder.Path("new.context"), now, now))
	Sweep(folder, now, func(name string) bool { return name == "there" })
	storetest.WantNames(t, string(folder), "new.context", "there.context")
	storetest.Write(t, folder.Path(".new.context123"), "half")
	rig.Must(t, In(folder, "new").Drop())
	storetest.WantNames(t, string(folder), "there.context")
}

// Who looks after those that a killed process started finds them by what is noted of them, and no half-written note.
func TestWith(t *testing.T) {
	t.Parallel()
	folder := private.Tree(filepath.Join(t.TempDir(), "turns"))
	rig.Equal(t, len(In(folder, "").With(Observes, "/srv")), 0, "where no folder is")
	for name, project := range map[string]string{"mine": "/srv", "another": "/srv/x"} {
		_, err := In(folder, name).Put(Observes, project)
		rig.Must(t, err)
	}
	_, err := In(folder, "context").Put(Context, "/srv")
	rig.Must(t, err)
	storetest.Write(t, folder.Path(".half.observes123"), "/srv")
	found := In(folder, "").With(Observes, "/srv")
	rig.Check(t, len(found) == 1 && found[0] == "mine", "%q", found)
}
