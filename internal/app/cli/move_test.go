package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/move"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/jobs"
	"nbs-worker/internal/store/trust"
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

// packed brings the package of an agent to another project, as a move does before the agent leaves.
func packed(t *testing.T, handle, far string) (id, digest string) {
	t.Helper()
	id = agent.NewMoveID()
	ask := run("host", "give", handle, "--look").want(t, 0).out
	room := runOn(ui.Streams{In: strings.NewReader(ask)}, "--root", far, "host", "take", "--check").want(t, 0).out
	var at move.Room
	rig.Must(t, json.Unmarshal([]byte(room), &at))
	give := []string{"host", "give", handle, "--id", id, "--to", "build1", "--place", at.PlaceID, "--from", "laptop", "--command", "nbs-worker move " + handle + " --to build1"}
	text := runOn(ui.Streams{In: strings.NewReader(room)}, give...).want(t, 0).out
	var taken move.Taken
	out := runOn(ui.Streams{In: strings.NewReader(text)}, "--root", far, "host", "take", "--id", id).want(t, 0).out
	rig.Must(t, json.Unmarshal([]byte(out), &taken))
	return id, taken.Digest
}

// ofProject returns a project as the user of the test has it.
func ofProject(t *testing.T, folder string) *store.Store {
	t.Helper()
	s, err := store.Open(folder)
	rig.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	s.UseHome(home)
	s.Use(trust.NewKeeper(home))
	return s
}

// wantNoPackage checks that no package waits for a project, and that no request for a host has one.
func wantNoPackage(t *testing.T, s *store.Store) {
	t.Helper()
	waiting, err := s.Moves().Waiting()
	rig.Check(t, err == nil && len(waiting) == 0, "packages: %v, %v", waiting, err)
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	rig.Must(t, jobs.Of(home).Forget(func(r jobs.Request) bool {
		rig.Check(t, r.Args[1] != "give" && r.Args[1] != "take" || !slices.Contains(r.Args, "--id") || slices.Contains(r.Args, "--drop"), "a request is left: %q", r.Args)
		return false
	}))
}

// A move that fails when the agent was stopped says how it is completed, and how it is canceled. Nothing stays of it.
func TestAMoveThatFailsHalfway(t *testing.T) {
	far := newProject(t)
	withProjects(t, map[string]string{"build1": far})
	t.Chdir(newProject(t, uitest.Record("alpha")))
	s := ofProject(t, far)
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	inTheWay := home.Path("moves", s.ProjectHash())
	rig.Must(t, os.MkdirAll(filepath.Dir(inTheWay), 0o700))
	rig.Must(t, os.WriteFile(inTheWay, nil, 0o600))
	run("move", "alpha", "--to", "build1", "--no-start").want(t, fail.Unfit, "it was stopped, and the move is not complete",
		"hint: to complete the move: nbs-worker move alpha --to build1 --no-start", "if it has not left: nbs-worker move alpha --cancel")
	run("resume", "alpha").want(t, fail.Conflict, "being moved to build1")
	rig.Must(t, os.Remove(inTheWay))
	run("move", "alpha", "--to", "build1", "--no-start").want(t, 0)
	run("--root", far, "session", "alpha").want(t, 0)
	wantNoPackage(t, s)
}

// What a canceled move has brought to the other machine goes with the cancellation, or with the next move.
func TestNoPackageStaysOfACanceledMove(t *testing.T) {
	far := newProject(t)
	dir := withProjects(t, map[string]string{"build1": far})
	t.Chdir(newProject(t, uitest.Record("alpha")))
	s := ofProject(t, far)
	packed(t, "alpha", far)
	run("move", "alpha", "--cancel").want(t, 0, "hint: it is stopped; to start it: nbs-worker resume alpha")
	wantNoPackage(t, s)

	packed(t, "alpha", far)
	ssh, err := os.ReadFile(dir + "/ssh")
	rig.Must(t, err)
	rig.Must(t, os.WriteFile(dir+"/ssh", []byte("#!/bin/sh\necho 'ssh: connect to host x: Connection refused' >&2\nexit 255\n"), 0o700))
	run("move", "alpha", "--cancel").want(t, 0, "what was brought to build1 is still there")
	rig.Must(t, os.WriteFile(dir+"/ssh", ssh, 0o700))
	run("move", "alpha", "--to", "build1").want(t, 0)
	wantNoPackage(t, s)
}
