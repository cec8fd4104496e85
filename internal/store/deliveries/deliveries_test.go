package deliveries

import (
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// inProject are the notes of a project with an empty .nbs, and that folder.
func inProject(t *testing.T, keeper *trust.Keeper, project string) (*Drawer, string) {
	t.Helper()
	path := t.TempDir()
	rig.Must(t, os.Chmod(path, 0o700))
	nbs, err := private.OpenFolder(path)
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, nbs.Close()) })
	return In(nbs, keeper, project, func() error { return nil }), path
}

// What is open is known to the next process, in the order of the turns; what is over is known, and forgotten after a
// week.
func TestNotes(t *testing.T) {
	t.Parallel()
	keeper := trust.NewKeeper(trust.Home(t.TempDir()))
	d, _ := inProject(t, keeper, "/srv/project")
	open, err := d.Open()
	rig.Check(t, err == nil && len(open) == 0, "%+v, %v", open, err)
	at := storetest.SomeTime()
	for seq, id := range []string{"c", "b", "a"} {
		rig.Must(t, d.Put(Note{ID: id, Key: "telegram:1", Seq: seq + 1, State: Accepted, At: at}))
	}
	rig.Must(t, d.Put(Note{ID: "b", Key: "telegram:1", Seq: 2, State: Over, At: at}))
	open, err = d.Open()
	rig.Check(t, err == nil && len(open) == 2 && open[0].ID == "c" && open[1].ID == "a", "%+v, %v", open, err)
	n, there, err := d.Get("b")
	rig.Check(t, err == nil && there && n.State == Over, "%+v, %v", n, err)
	rig.Must(t, d.Put(Note{ID: "d", State: Accepted, At: at.Add(8 * 24 * time.Hour)}))
	if _, there, err := d.Get("b"); there || err != nil {
		t.Errorf("what was over a week ago is there: %v", err)
	}
	if _, there, err := d.Get("c"); !there || err != nil {
		t.Errorf("what is open is gone: %v", err)
	}
}

// What was changed, or came with another project, does not count; it is told, with what to do.
func TestNotesOfOthers(t *testing.T) {
	t.Parallel()
	keeper := trust.NewKeeper(trust.Home(t.TempDir()))
	d, nbs := inProject(t, keeper, "/srv/project")
	rig.Must(t, d.Put(Note{ID: "a", Key: "telegram:1", State: Accepted, At: storetest.SomeTime()}))
	path := nbs + "/" + Folder + "/" + fileOf("a")
	text := storetest.Read(t, path)
	elsewhere, other := inProject(t, keeper, "/srv/other")
	rig.Must(t, os.Mkdir(other+"/"+Folder, 0o700))
	storetest.Write(t, other+"/"+Folder+"/"+fileOf("a"), text)
	_, err := elsewhere.Open()
	storetest.WantKind(t, "another project's", err, fail.Held)
	storetest.WantHint(t, err, "rm ")
	storetest.Write(t, path, strings.Replace(text, string(Accepted), string(Over), 1))
	_, _, err = d.Get("a")
	storetest.WantKind(t, "changed", err, fail.Held)
	storetest.Write(t, path, "{")
	_, _, err = d.Get("a")
	storetest.WantKind(t, "damaged", err, fail.Failed)
}

// A key that cannot be read at the moment says nothing of a note.
func TestNotesWithoutTheKeyAreNotDamaged(t *testing.T) {
	t.Parallel()
	d, nbs := inProject(t, trust.NewKeeper(trust.Home(t.TempDir())), "/srv/project")
	rig.Must(t, d.Put(Note{ID: "a", State: Accepted, At: storetest.SomeTime()}))
	d.keeper = trust.NewKeeper(trust.Home(nbs + "/" + Folder + "/" + fileOf("a"))) // no folder
	_, _, err := d.Get("a")
	rig.Check(t, err != nil && !strings.Contains(strings.Join(fail.HintsOf(err), " "), "rm "), "%v, %q", err, fail.HintsOf(err))
}
