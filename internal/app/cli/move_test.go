package cli

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// An agent whose machine is lost comes back as it was when it left, after a question.
func TestAnAgentComesBackFromALostMachine(t *testing.T) {
	far := newProject(t)
	dir := withProjects(t, map[string]string{"build1": far})
	t.Chdir(newProject(t, uitest.Record("alpha")))
	run("send", "alpha", "--queue", "Go on.").want(t, 0)
	run("move", "alpha", "--cancel", "--lost").want(t, fail.Conflict, "it has not left", "nbs-worker move alpha --cancel")
	run("move", "alpha", "--lost", "--to", "build1").want(t, fail.BadInput, "--lost belongs to --cancel")
	run("move", "alpha", "--to", "build1").want(t, 0)
	run("session", "alpha").want(t, fail.NotFound, "it was moved to build1")
	rig.Must(t, os.WriteFile(dir+"/ssh", []byte("#!/bin/sh\necho 'ssh: connect to host x: Connection refused' >&2\nexit 255\n"), 0o700))

	run("move", "alpha", "--cancel", "--lost").want(t, fail.BadInput, "alpha left for build1 at 2", "1 waiting message went with it", "two agents go on with one conversation", "hint: to confirm: nbs-worker move alpha --cancel --lost --yes")
	run("move", "alpha", "--cancel", "--lost", "--yes").want(t, 0, "nbs-worker resume alpha")
	r := run("session", "alpha", "--json").want(t, 0)
	rig.Check(t, strings.Contains(r.out, string(uitest.SessionID)) && strings.Contains(r.out, `"desired":"stopped"`), "%s", r.out)
	run("move", "alpha", "--cancel", "--lost", "--yes").want(t, fail.Conflict, "it has not left")
}
