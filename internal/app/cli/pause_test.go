package cli

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
)

func TestPauseIsToldUntilItEnds(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	const note = "no automatic repairs or restarts (the disk   moves); to end it: nbs-worker --root "
	pause := run("--root", project, "pause", "--reason", "the disk \n moves", "--json").want(t, 0)
	if !strings.HasPrefix(pause.out, `{"paused":true,"since":"2`) || !strings.Contains(pause.out, `"reason":"the disk \n moves"`) {
		t.Errorf("pause --json: %s", pause.out)
	}
	run("--root", project, "list").want(t, 0, note)
	run("--root", project, "session", "alpha").want(t, 0, note)
	r := run("--root", project, "doctor")
	rig.Check(t, strings.Contains(r.out, "the project is paused: the disk") && strings.Contains(r.out, "unpause"), "doctor: %s", r.out)
	r = run("--root", project, "unpause", "--json").want(t, 0)
	rig.Check(t, r.out == `{"paused":false,"since":null}`+"\n", "unpause --json: %s", r.out)
	r = run("--root", project, "list").want(t, 0)
	rig.Check(t, r.err == "", "afterwards: %s", r.err)
	runOn(ui.Streams{ErrTTY: true}, "--root", project, "unpause").want(t, 0, "it was not paused")
	r = run("--root", project, "events")
	rig.Check(t, strings.Contains(r.out, "\tpause\t") && strings.Contains(r.out, "\tunpause\t"), "events: %s", r.out)
}

// What cannot be read may have been a pause.
func TestDamagedPauseIsAPause(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	run("--root", project, "pause").want(t, 0)
	s, err := store.Open(project)
	rig.Must(t, err)
	defer s.Close()
	rig.Must(t, os.WriteFile(s.Watching().PauseFile(), []byte("{"), 0o600))
	run("--root", project, "list").want(t, 0, "watch/paused.json cannot be read, so the project counts as paused")
	run("--root", project, "unpause").want(t, 0)
	if pause, err := s.Watching().Paused(); pause != nil || err != nil {
		t.Errorf("afterwards: %v, %v", pause, err)
	}
	run("--root", project, "pause", "--reason", strings.Repeat("x", 2000)).want(t, fail.BadInput, "the reason has 2000 bytes; 1000 are the most")
}
