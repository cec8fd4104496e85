package schedules

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

// inProject are the schedules of a project with an empty .nbs, and that folder.
func inProject(t *testing.T, keeper *trust.Keeper, project string) (*Schedules, string) {
	t.Helper()
	path := t.TempDir()
	storetest.Must(os.Chmod(path, 0o700))
	storetest.Must(os.Mkdir(path+"/"+Folder, 0o700))
	nbs, err := private.OpenFolder(path)
	rig.Must(t, err)
	t.Cleanup(func() { storetest.Must(nbs.Close()) })
	return In(nbs, keeper, project, func() error { return nil }), path
}

func TestFileIsReadAsItIs(t *testing.T) {
	t.Parallel()
	s, nbs := inProject(t, trust.NewKeeper(trust.Home(t.TempDir())), "/srv/project")
	_, err := s.Text()
	storetest.WantKind(t, "no file", err, fail.NotFound)
	storetest.WantHint(t, err, "nbs-worker schedule --help")
	storetest.Write(t, nbs+"/schedules.yaml", "zone: UTC\n")
	text, err := s.Text()
	rig.Check(t, err == nil && string(text) == "zone: UTC\n", "%q, %v", text, err)
	rig.Must(t, os.Chmod(nbs+"/schedules.yaml", 0o666))
	_, err = s.Text()
	storetest.WantKind(t, "written by anybody", err, fail.BadInput)
	rig.Must(t, os.Remove(nbs+"/schedules.yaml"))
	rig.Must(t, os.Mkdir(nbs+"/schedules.yaml", 0o700))
	_, err = s.Text()
	storetest.WantKind(t, "a folder", err, fail.BadInput)
}

// What ran is known to the next process, as it was; not what was changed, damaged, or came with
// another project.
func TestWhatRanIsRemembered(t *testing.T) {
	t.Parallel()
	keeper := trust.NewKeeper(trust.Home(t.TempDir()))
	s, nbs := inProject(t, keeper, "/srv/project")
	got, err := s.Recall()
	rig.Check(t, err == nil && len(got) == 0, "%+v, %v", got, err)
	at := storetest.SomeTime()
	want := map[string]Last{
		"morning": {When: "30 7 * * * UTC", Passed: at, ScheduledFor: at, StartedAt: at.Add(3 * time.Millisecond), Waiting: at.Add(time.Hour)},
		"nudge":   {When: "every 1h0m0s", Passed: at, Done: true},
	}
	rig.Must(t, s.Remember(want))
	got, err = s.Recall()
	rig.Must(t, err)
	rig.Same(t, "what ran", want, got)

	file := nbs + "/" + Folder + "/" + lastsName
	written := storetest.Read(t, file)
	for what, text := range map[string]string{
		"damaged": "{", "changed": strings.Replace(written, `"done": true`, `"done": false`, 1), "no seal": `{"entries": {}}`,
	} {
		storetest.Write(t, file, text)
		_, err := s.Recall()
		storetest.WantKind(t, what, err, fail.BadInput)
		storetest.WantHint(t, err, "rm '"+file+"'")
	}
	clone, cloned := inProject(t, keeper, "/srv/clone")
	storetest.Write(t, cloned+"/"+Folder+"/"+lastsName, written)
	_, err = clone.Recall()
	storetest.WantKind(t, "of another project", err, fail.BadInput)
}

// A key that cannot be read at the moment says nothing of what ran.
func TestWhatRanWithoutTheKeyIsNotDamaged(t *testing.T) {
	t.Parallel()
	s, nbs := inProject(t, trust.NewKeeper(trust.Home(t.TempDir())), "/srv/project")
	rig.Must(t, s.Remember(nil))
	s.keeper = trust.NewKeeper(trust.Home(nbs + "/" + Folder + "/" + lastsName)) // no folder
	_, err := s.Recall()
	storetest.WantKind(t, "recall", err, fail.Failed)
	rig.Check(t, !strings.Contains(strings.Join(fail.HintsOf(err), " "), "rm "), "%q", fail.HintsOf(err))
}
