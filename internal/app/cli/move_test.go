package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/move"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/storetest"
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
	rig.WriteProgram(t, dir+"/ssh", "#!/bin/sh\necho 'ssh: connect to host x: Connection refused' >&2\nexit 255\n")

	run("move", "alpha", "--cancel", "--lost").want(t, fail.BadInput, "alpha left for build1 at 2", "1 waiting message went with it", "two agents go on with one conversation", "hint: to confirm: nbs-worker move alpha --cancel --lost --yes")
	back := run("move", "alpha", "--cancel", "--lost", "--yes", "--json").want(t, 0).out
	rig.Check(t, strings.Contains(back, `"handle":"alpha"`) && strings.Contains(back, `"back":true`), "what is true now: %s", back)
	r := run("session", "alpha", "--json").want(t, 0)
	rig.Check(t, strings.Contains(r.out, string(uitest.SessionID)) && strings.Contains(r.out, `"desired":"stopped"`), "%s", r.out)
	run("move", "alpha", "--cancel", "--lost", "--yes").want(t, fail.Conflict, "it has not left")
}

// given has an agent handed out to another project, as a move does, and returns the package.
func given(t *testing.T, handle, far string) (id, text string) {
	t.Helper()
	id = agent.NewMoveID()
	ask := run("host", "give", handle, "--look").want(t, 0).out
	room := runOn(ui.Streams{In: strings.NewReader(ask)}, "--root", far, "host", "take", "--check").want(t, 0).out
	var at move.Room
	rig.Must(t, json.Unmarshal([]byte(room), &at))
	give := []string{"host", "give", handle, "--id", id, "--to", "build1", "--place", at.PlaceID, "--from", "laptop", "--command", "nbs-worker move " + handle + " --to build1"}
	return id, runOn(ui.Streams{In: strings.NewReader(room)}, give...).want(t, 0).out
}

// packed brings the package of an agent to another project, as a move does before the agent leaves.
func packed(t *testing.T, handle, far string) (id, digest string) {
	t.Helper()
	id, text := given(t, handle, far)
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

// wantNoPackage checks that no package waits for a project, and that no request of a host has one.
func wantNoPackage(t *testing.T, s *store.Store) {
	t.Helper()
	waiting, err := s.Moves().Waiting()
	rig.Check(t, err == nil && len(waiting) == 0, "packages: %v, %v", waiting, err)
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	requests, err := filepath.Glob(home.Path("jobs", "*", "request.json"))
	rig.Must(t, err)
	for _, path := range requests {
		text := storetest.Read(t, path)
		if !strings.Contains(text, `"--id"`) || strings.Contains(text, `"--drop"`) || !strings.Contains(text, `"give"`) && !strings.Contains(text, `"take"`) {
			continue
		}
		for _, name := range []string{"input", "out"} {
			size, err := os.Stat(filepath.Join(filepath.Dir(path), name))
			rig.Check(t, errors.Is(err, fs.ErrNotExist) || err == nil && size.Size() == 0, "a package is left in %s of %s: %v", name, text, err)
		}
	}
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
	run("move", "alpha", "--to", "build1", "--no-start", "--trust").want(t, fail.Unfit, "it was stopped, and the move is not complete",
		"hint: to complete the move: nbs-worker move alpha --to build1 --no-start --trust\n", "if it has not left: nbs-worker move alpha --cancel")
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
	stays := runOn(ui.Streams{OutTTY: true}, "move", "alpha", "--cancel").want(t, 0, "hint: it is stopped; to start it: nbs-worker resume alpha").out
	rig.Equal(t, stays, "alpha: stays here, stopped\n", "what is true now")
	wantNoPackage(t, s)

	packed(t, "alpha", far)
	ssh, err := os.ReadFile(dir + "/ssh")
	rig.Must(t, err)
	rig.WriteProgram(t, dir+"/ssh", "#!/bin/sh\necho 'ssh: connect to host x: Connection refused' >&2\nexit 255\n")
	run("move", "alpha", "--cancel").want(t, 0, "what was brought to build1 is still there")
	rig.WriteProgram(t, dir+"/ssh", string(ssh))
	run("move", "alpha", "--to", "build1").want(t, 0)
	wantNoPackage(t, s)
}

// An agent that is named in other letters is found where it has moved.
func TestAMoveInOtherLetters(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t)})
	t.Chdir(newProject(t, uitest.Record("alpha")))
	run("move", "ALPHA", "--to", "build1", "--no-start").want(t, 0)
	run("session", "alpha").want(t, fail.NotFound, "it was moved to build1", "to use it there: nbs-worker session alpha@build1")
}

// An agent that runs moves to a full host if it is not to be started there, and one that is stopped moves there anyway.
func TestAMoveToAHostThatIsFull(t *testing.T) {
	bob := uitest.Record("bob")
	bob.SessionID = "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a12"
	withProjects(t, map[string]string{"build1": newProject(t, bob)})
	stopped := uitest.Record("carol")
	stopped.SessionID, stopped.Desired = "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a13", agent.DesiredStopped
	t.Chdir(newProject(t, uitest.Record("alpha"), stopped)) // alpha is to run, as its record has it
	run("host", "add", "build1", "of-build1", "--running", "1").want(t, 0)
	run("move", "carol", "--to", "build1").want(t, 0)
	run("move", "alpha", "--to", "build1").want(t, fail.Held, "its limit there of 1 running agent is reached")
	run("move", "alpha", "--to", "build1", "--no-start").want(t, 0)
	there := run("session", "alpha@build1", "--json").want(t, 0).out
	rig.Check(t, strings.Contains(there, `"desired":"stopped"`), "it is to run there: %s", there)
}

// withConversation makes a conversation in a folder of Claude, with one file beside it.
func withConversation(t *testing.T, id agent.SessionID, beside string) (file string) {
	t.Helper()
	config := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", config)
	file = filepath.Join(config, "file-history", string(id), "a@v1")
	transcript := filepath.Join(config, "projects", "-srv-project", string(id)+".jsonl")
	line := `{"type":"user","sessionId":"` + string(id) + `","uuid":"0b6c2d3e-6a0f-4a57-9c52-0a9a3f0d9b11","message":{"role":"user","content":"Hello"}}`
	for path, text := range map[string]string{file: beside, transcript: line + "\n"} {
		rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return file
}

// A file of a conversation that has come replaces another one of the same size.
func TestAFileThatOnlyLooksTheSameIsReplaced(t *testing.T) {
	far := newProject(t)
	alpha := uitest.Record("alpha")
	alpha.SessionID = agent.NewSessionID() // the archive has it from now on
	alpha.ConfigDir = filepath.Join(withConversation(t, alpha.SessionID, "new content"), "../../..")
	t.Chdir(newProject(t, alpha))
	id, digest := packed(t, "alpha", far)
	at := withConversation(t, alpha.SessionID, "old content")
	run("--root", far, "host", "arrive", "alpha", "--id", id, "--digest", digest, "--from", "laptop", "--no-start").want(t, 0)
	text, err := os.ReadFile(at)
	rig.Check(t, err == nil && string(text) == "new content", "%q, %v", text, err)
}

// An agent that was dismissed where it arrived is not mistaken for the next one of its name.
func TestAnotherAgentOfTheNameHasNotArrived(t *testing.T) {
	far := newProject(t)
	t.Chdir(newProject(t, uitest.Record("alpha")))
	id, digest := packed(t, "alpha", far)
	arrive := []string{"--root", far, "host", "arrive", "alpha", "--id", id, "--digest", digest, "--from", "laptop", "--no-start"}
	r := run(arrive...).want(t, 0)
	rig.Check(t, strings.Contains(r.out, string(uitest.SessionID)), "%s", r.out)
	rig.Check(t, run(arrive...).want(t, 0).out == r.out, "asked again, it says something else")
	run("--root", far, "dismiss", "alpha").want(t, 0)
	other := uitest.Record("alpha")
	other.SessionID = agent.NewSessionID()
	rig.Must(t, ofProject(t, far).Insert(t.Context(), other))
	r = run(arrive...).want(t, 0)
	rig.Check(t, !strings.Contains(r.out, string(other.SessionID)) && strings.Contains(r.out, `"handle":""`), "%s", r.out)
}

// An agent that came to another folder of this machine is named with that folder. A project that was made for it is told.
func TestAnAgentIsAtAnotherProjectHere(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t, uitest.Record("alpha"))})
	first, err := ui.Absolute(rig.MemoryDir(t))
	rig.Must(t, err)
	t.Chdir(first)
	person := ui.Streams{OutTTY: true, Width: 300}
	r := runOn(person, "move", "alpha@build1", "--to", "here", "--no-start").want(t, 0, "there was no project here; it made one, in "+`"`+first+`"`)
	rig.Check(t, strings.HasPrefix(r.out, "alpha: moved from build1 to here, "), "%q", r.out)
	t.Chdir(newProject(t))
	r = run("move", "alpha@build1", "--to", "here", "--no-start").want(t, fail.NotFound, `it is not at build1: it was moved here, to "`+first+`"`,
		"hint: to see it: nbs-worker --root '"+first+"' session alpha\n")
	rig.Check(t, !strings.Contains(r.err, "made one"), "%s", r.err)
}
