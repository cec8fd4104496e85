package schedules

import (
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

func TestFileIsReadAsItIs(t *testing.T) {
	t.Parallel()
	s := In(nbs.New(t, Folder))
	_, err := s.Text()
	storetest.WantKind(t, "no file", err, fail.NotFound)
	storetest.WantHint(t, err, "nbs-worker help schedule")
	storetest.Write(t, s.Path(), "zone: UTC\n")
	text, err := s.Text()
	rig.Check(t, err == nil && string(text) == "zone: UTC\n", "%q, %v", text, err)
	rig.Must(t, os.Chmod(s.Path(), 0o666))
	_, err = s.Text()
	storetest.WantKind(t, "written by anybody", err, fail.BadInput)
	rig.Must(t, os.Remove(s.Path()))
	rig.Must(t, os.Mkdir(s.Path(), 0o700))
	_, err = s.Text()
	storetest.WantKind(t, "a folder", err, fail.BadInput)
}

// What ran is known to the next process, as it was; not what was changed.
func TestWhatRanIsRemembered(t *testing.T) {
	t.Parallel()
	in := nbs.New(t, Folder)
	s := In(in)
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

	file := in.Path(Folder, lastsName)
	storetest.Write(t, file, strings.Replace(storetest.Read(t, file), `"done": true`, `"done": false`, 1))
	_, err = s.Recall()
	storetest.WantKind(t, "changed", err, fail.Held)
	storetest.WantHint(t, err, "rm '"+file+"'")
}
