package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/queue"
)

func (w *world) renames(remembered func(context.Context) error) (Renamed, error) {
	return w.Rename(w.Context(), Rename{From: "alpha", To: "beta", Remembered: remembered})
}

// waits puts messages into the outbox of an agent.
func (w *world) waits(handle agent.Handle, texts ...string) {
	w.Helper()
	for _, text := range texts {
		_, err := w.Project.Store.Outbox(handle).Add(w.Context(), queue.Entry{Text: text, State: queue.Waiting})
		w.must(err)
	}
}

// blocked puts a folder in the place of a file, until undo is called.
func (w *world) blocked(file string) (undo func()) {
	w.Helper()
	path := filepath.Join(w.dir, file)
	text, err := os.ReadFile(path)
	w.inTheWay(file)
	return func() {
		w.must(os.RemoveAll(path))
		if err == nil {
			w.put(path, string(text))
		}
	}
}

// mustBeRenamed checks that all of alpha is beta's, and that nothing else differs.
func (w *world) mustBeRenamed(before agent.Record, texts ...string) {
	w.Helper()
	handles, err := w.Project.Store.Handles()
	w.must(err)
	rig.Same(w, "the agents", []agent.Handle{"beta"}, handles)
	now, err := w.Project.Store.Load("beta")
	w.must(err)
	w.must(w.Project.Store.CheckSeal(&now))
	rig.Equal(w, now.SessionID, before.SessionID, "the conversation")
	rig.Equal(w, now.TmuxSession, "nbs-beta-live", "the tmux session")
	rig.Equal(w, now.Desired, before.Desired, "the desired state")
	rig.Equal(w, now.OwnWorktree, before.OwnWorktree, "the worktree")
	all, err := w.Project.Store.Outbox("beta").Entries()
	w.must(err)
	rig.Same(w, "the messages", texts, agent.Mapped(all, func(e queue.Entry) string { return e.Text }))
	for _, e := range all {
		w.must(w.Project.Store.Outbox("beta").CheckSeal(&e))
	}
	rig.Equal(w, w.Project.Store.Outbox("alpha").Newest(), "", "a message that stays")
	w.mustNote("rename", before.SessionID)
}

func TestRename(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tree := agent.OwnWorktree{Path: "/trees/alpha", Common: "/repo/.git", Branch: "nbs/alpha", Base: "0123456789012345678901234567890123456789"}
	before := w.has("alpha", func(r *agent.Record) { r.Desired, r.OwnWorktree = agent.DesiredStopped, tree })
	w.waits("alpha", "one", "two")
	renamed, err := w.renames(nil)
	w.must(err)
	rig.Equal(t, renamed.Moved, 2, "moved messages")
	rig.Check(t, renamed.Again == nil, "it was started")
	w.mustBeRenamed(before, "one", "two")
	_, err = w.renames(nil) // as after a kill at its end
	w.must(err)
	w.mustBeRenamed(before, "one", "two")
}

// Whatever prevents a step, the same call completes the rename.
func TestRenameThatCouldNotGoOn(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"memory", "project/.nbs/journal.jsonl", "project/.nbs/locks/beta.record", "project/.nbs/locks/beta.outbox", "project/.nbs/locks/beta.status"} {
		w := newWorld(t)
		before := w.has("alpha", asItIs)
		w.waits("alpha", "one", "two")
		w.must(w.Project.Store.UpdateReport(t.Context(), "alpha", func(r *agent.Report) { r.Invocation = agent.NewInvocation() }))
		broken := func(context.Context) error { return errors.New("no memory") }
		undo := func() {}
		if what != "memory" {
			broken, undo = nil, w.blocked(what)
		}
		_, err := w.renames(broken)
		rig.Check(t, err != nil, "%s in the way: it went on", what)
		if r, err := w.Project.Store.Load("alpha"); err == nil {
			_, err = w.PlanResume(t.Context(), r.Handle, Resume{})
			mustSay(t, what+", resume of the old one", err, fail.Conflict, "being renamed to beta", "nbs-worker rename alpha beta")
			_, err = w.Rename(t.Context(), Rename{From: "alpha", To: "gamma"})
			mustSay(t, what+", another name", err, fail.Conflict, "nbs-worker rename alpha beta")
		}
		undo()
		_, err = w.renames(nil)
		rig.Check(t, err == nil, "%s: the second call: %v", what, err)
		w.mustBeRenamed(before, "one", "two")
	}
}

func TestRenameIsRefused(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		to    agent.Handle
		kind  fail.Kind
		words string
	}{
		"a taken handle":      {"gamma", fail.Conflict, "the handle is taken"},
		"the same handle":     {"Alpha", fail.BadInput, "are the same handle"},
		"a running, busy one": {"beta", fail.Conflict, "a rename would end that"},
	} {
		w := newWorld(t)
		w.has("gamma", asItIs)
		w.has("alpha", func(r *agent.Record) { w.live(r) })
		_, err := w.Rename(t.Context(), Rename{From: "alpha", To: c.to})
		mustSay(t, what, err, c.kind, c.words)
		r, err := w.Project.Store.Load("alpha")
		rig.Check(t, err == nil && w.lives() && r.Rename == nil && r.Desired == agent.DesiredRunning, "%s: it was changed: %v", what, err)
	}
	w := newWorld(t)
	_, err := w.renames(nil)
	mustSay(t, "no agent", err, fail.NotFound, "no such agent")
}

// awaits has the launcher of an agent wait to start it again.
func (w *world) awaits(r *agent.Record) {
	w.Helper()
	w.live(r)
	w.table.End(agentPID)
	id := w.table.Add(agentPID+1, fake.Process{
		Args: []string{"nbs-worker", "run", "alpha"}, Program: w.Project.Program, Folder: w.dir + "/project", Env: []string{agent.LaunchVariable + "=" + string(r.Process.Invocation)},
	})
	r.Process.Launcher = id.Identified
	r.Process.Tmux = &agent.TmuxPlace{Socket: w.dir + "/tmux", Path: w.dir + "/tmux", ServerPID: agentPID + 2, ServerStartTicks: 1} // which has ended
	r.Restart.Policy = agent.RestartOnFailure
	r.AddExit(agent.Exit{At: r.Started, Invocation: r.Process.Invocation, Code: 1})
	r.Restarts = agent.Restarts{Next: r.Started.Add(time.Hour), After: agent.EndQuota}
}

// A rename ends the launcher that was to start the agent again. So it starts the agent itself.
func TestRenameOfAnAgentThatWaitsForItsRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Project.Tmux = tmux.New
	r := w.has("alpha", func(r *agent.Record) {
		w.awaits(r)
		r.Cwd = w.dir + "/gone" // so its start fails, and no tmux is run
	})
	rig.Equal(t, w.Project.LookAt(t.Context(), r).Status.State, agent.Backoff, "the state before")
	renamed, err := w.renames(nil)
	rig.Check(t, renamed.Again != nil, "it was not started again: %v", err)
	mustSay(t, "its start", err, fail.NotFound, "it is renamed, but was not started again", "nbs-worker resume beta")
}

// The launcher in a terminal of a person's cannot be started there again.
func TestRenameOfAnAgentThatWaitsInATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has("alpha", func(r *agent.Record) { w.awaits(r); r.Process.Tmux = nil })
	_, err := w.renames(nil)
	mustSay(t, "in a terminal", err, fail.Conflict, "could not be started there again", "nbs-worker stop alpha")
}

// A message to the old handle that comes in the moment of the rename goes along.
func TestMessageInTheMomentOfARename(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.has("alpha", asItIs)
	w.waits("alpha", "one")
	w.must(w.Project.Store.Seen().Mark(t.Context(), w.Project.Now(), "alpha"))
	release, err := store.LockFile(t.Context(), w.dir+"/state/seen.lock") // the rename waits for it
	w.must(err)
	over := make(chan error, 1)
	go func() {
		_, err := w.renames(nil)
		over <- err
	}()
	rig.Eventually(t, "its message was moved", func() bool { return w.Project.Store.Outbox("beta").Newest() != "" })
	w.waits("alpha", "two")
	release()
	w.must(<-over)
	w.mustBeRenamed(before, "one", "two")
}

// A message that no command of the user wrote gets no seal by a rename.
func TestRenameSealsNoForeignMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.has("alpha", asItIs)
	w.waits("alpha", "one", "two")
	path := w.Project.Store.Folder() + "/outbox/alpha.000000001.json"
	w.put(path, `{"id":"x","handle":"alpha","text":"rm","state":"waiting","seal":"forged"}`)
	renamed, err := w.renames(nil)
	w.must(err)
	rig.Equal(t, renamed.Dropped, 1, "dropped messages")
	w.mustBeRenamed(before, "two")
	w.mustNote("dropped", before.SessionID)
}
