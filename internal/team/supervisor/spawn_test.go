package supervisor

import (
	"os"
	"os/user"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/launch"

	"nbs-worker/internal/sim/rig"
)

// What is wrong with a spawn is found in one order, before anything is made: who, which
// conversation, what the record would be, the programs, what claude is told, where, and how.
func TestWhatASpawnIsRefusedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	taken := w.has("alpha", asItIs)
	w.put(w.transcript(taken.SessionID), talk(0))
	claude := &w.Project.Env[2]
	right := *claude
	w.Project.UID, *claude = 0, "NBS_CLAUDE="+w.dir+"/none"
	spawn := Spawn{Start: launch.Start{Prompt: "/exit", Trust: true}, Spec: agent.Spec{
		Handle: "ALPHA", SessionID: agent.NewSessionID(), PermissionMode: agent.BypassPermissions, Model: "-x", ClaudeArgs: []string{"--settings", "{}"},
		Cwd: w.dir + "/none", Env: map[string]string{"LD_PRELOAD": "/x"},
	}}
	for _, c := range []struct {
		kind  fail.Kind
		words string
		mend  func()
	}{
		{fail.Conflict, "the handle is taken", func() { spawn.Handle = "beta" }},
		{fail.NotFound, "no conversation ", func() { spawn.SessionID = taken.SessionID }},
		{fail.Conflict, "belongs to agent alpha", func() { spawn.SessionID = "" }},
		{fail.BadInput, "model", func() { spawn.Model = "opus" }},
		{fail.Unfit, "cannot be run", func() { *claude = right }},
		{fail.BadInput, "is set by nbs-worker itself", func() { spawn.ClaudeArgs = nil }},
		{fail.BadInput, "variable LD_PRELOAD cannot be set", func() { spawn.Env = nil }},
		{fail.BadInput, "leave the conversation", func() { spawn.Prompt = "hello" }},
		{fail.NotFound, "the working directory", func() { spawn.Cwd = w.dir + "/home" }},
		{fail.BadInput, "Claude would trust everything in your home folder", func() { spawn.Cwd = w.dir + "/config" }},
		{fail.BadInput, "--trust without a folder is for folders of the project", func() { spawn.TrustDir = w.Project.Store.Project() }},
		{fail.BadInput, "--trust names", func() { spawn.TrustDir = spawn.Cwd }},
		{fail.Unfit, "or run the agent in this terminal: nbs-worker spawn beta --foreground", func() { spawn.InPlace = true }},
		{fail.BadInput, "cannot be used with root/sudo privileges", func() { spawn.Env = map[string]string{"X": strings.Repeat("x", 2<<20)}; w.Project.UID = 1000 }},
		{fail.BadInput, "the limit is", func() { spawn.Env = nil }},
	} {
		_, err := w.PrepareSpawn(t.Context(), spawn)
		mustSay(t, c.words, err, c.kind, c.words)
		c.mend()
	}
	handles, err := w.Project.Store.Handles()
	made, _ := os.ReadDir(w.Project.Store.Runtime())
	rig.Check(t, err == nil && len(handles) == 1 && len(made) == 0, "something was made: %v, %v, %v", handles, made, err)
	_, err = w.PrepareSpawn(t.Context(), spawn)
	w.must(err)
}

// Who is told of a failure after the record was written is told that it was.
func TestSpawnThatCannotBeJournalledKeepsItsRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inTheWay("project/.nbs/journal.jsonl")
	_, err := w.PrepareSpawn(t.Context(), Spawn{Spec: agent.Spec{Handle: "alpha"}, UsualMode: "default", Start: launch.Start{InPlace: true, Prompt: "Remember 42."}})
	mustSay(t, "spawn", err, fail.Failed, "open .nbs/journal.jsonl: not a regular file", "look at it, then move it aside: mv ",
		"its record is kept: nbs-worker resume alpha tries again, nbs-worker dismiss alpha removes it")
	r, err := w.Project.Store.Load("alpha")
	w.must(err)
	if plan, err := w.PlanResume(t.Context(), "alpha", inPlace); err != nil || plan.Record.SessionID != r.SessionID || plan.Prompt != "Remember 42." {
		t.Errorf("%+v, %v", plan.Record.Spec, err)
	}
}

// What a spec names is kept, but for the depth: a person's agent has none.
func TestSpecOfANewAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, err := w.newRecord(Spawn{Spec: agent.Spec{Handle: "alpha", PermissionMode: "plan", InitialPrompt: "Begin.", ConfigDir: "/srv/config", Depth: 2}})
	w.must(err)
	rig.Check(t, r.InitialPrompt == "Begin." && r.ConfigDir == "/srv/config" && r.Depth == 0 && r.PermissionMode == "plan" && r.Restart.Policy == agent.RestartNo, "%+v", r.Spec)
	rig.Check(t, r.SessionID != "" && r.Cwd == w.Project.Store.Project() && r.Schema == agent.Schema, "%+v", r.Spec)
}

// Claude trusts all that is in a folder with it: never the home folder or one above, whoever says
// which that is, and outside of the project only one that was named.
func TestFoldersThatAreNotTrusted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	w.must(err)
	w.Project.UID = os.Geteuid()
	for _, folder := range []string{"/", w.dir, w.dir + "/home", known.HomeDir} {
		for _, named := range []string{"", folder} {
			spawn := Spawn{Spec: agent.Spec{Handle: "alpha", Cwd: folder}, UsualMode: "default", Start: launch.Start{InPlace: true, Trust: true, TrustDir: named}}
			_, err := w.PlanSpawn(t.Context(), spawn)
			mustSay(t, folder, err, fail.BadInput, "Claude would trust everything in your home folder")
		}
	}
}

// A conversation that is taken up is held where it was held.
func TestConversationThatIsTakenUp(t *testing.T) {
	t.Parallel()
	w, id := newWorld(t), agent.NewSessionID()
	held := w.dir + "/held"
	w.put(w.transcript(id), strings.ReplaceAll(talk(0), `"type"`, `"cwd":"`+held+`","type"`))
	spawn := Spawn{Spec: agent.Spec{Handle: "beta", SessionID: id}, UsualMode: "default", Start: launch.Start{InPlace: true}}
	_, err := w.PlanSpawn(t.Context(), spawn)
	mustSay(t, "gone", err, fail.NotFound, "spawn beta --session-id "+string(id)+" --cwd DIR")
	w.must(os.Mkdir(held, 0o700))
	if plan, err := w.PlanSpawn(t.Context(), spawn); err != nil || plan.Record.Cwd != held || plan.Opening != resumed || plan.Record.TranscriptSeen.IsZero() {
		t.Errorf("%+v, %v", plan.Record.Spec, err)
	}
}

// An observer's conversation is no agent's, wherever it would be taken up: it is refused before anything is made.
func TestObserversConversationIsNotTakenUp(t *testing.T) {
	t.Parallel()
	w, id := newWorld(t), agent.NewSessionID()
	at, err := w.Project.Store.Spool().Work()
	w.must(err)
	w.put(w.transcript(id), strings.ReplaceAll(talk(0), `"type"`, `"cwd":"`+at+`","type"`))
	for _, cwd := range []string{"", w.dir + "/project"} {
		spawn := Spawn{Spec: agent.Spec{Handle: "beta", SessionID: id, Cwd: cwd}, UsualMode: "default", Start: launch.Start{InPlace: true}}
		_, err := w.PlanSpawn(t.Context(), spawn)
		mustSay(t, "planned in "+cwd, err, fail.BadInput, "observes an agent for the memory", "memory status")
		_, err = w.Spawn(t.Context(), spawn)
		mustSay(t, "spawned in "+cwd, err, fail.BadInput, "observes an agent for the memory")
	}
	if handles, err := w.Project.Store.Handles(); err != nil || len(handles) > 0 {
		t.Errorf("records of %v, %v", handles, err)
	}
}
