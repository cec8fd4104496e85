package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
)

// ends are the verbs that end an agent.
var ends = map[string]func(*world, context.Context) (Stopped, error){
	"stop":    func(w *world, ctx context.Context) (Stopped, error) { return w.Stop(ctx, "alpha") },
	"dismiss": func(w *world, ctx context.Context) (Stopped, error) { return w.Dismiss(ctx, "alpha", false) },
}

// What is ended is what the record identifies and what bears the mark of its start; all else is
// left alone, and that is said.
func TestWhoIsEnded(t *testing.T) {
	t.Parallel()
	unmarked := func(r *agent.Record) { r.Process.Invocation = agent.NewInvocation() }
	elsewhere := func(r *agent.Record) { r.Process.Host, r.Process.BootID = "elsewhere", "another" }
	for what, c := range map[string]struct {
		change func(*agent.Record)
		ends   bool
		words  string // "": it is no failure
	}{
		"the agent":            {asItIs, true, ""},
		"of another start":     {unmarked, false, "it does not have the mark of the start; it was not signalled"},
		"of an earlier boot":   {func(r *agent.Record) { unmarked(r); r.Process.BootID = "another" }, false, ""},
		"that had the pid":     {func(r *agent.Record) { unmarked(r); r.Process.StartTicks++ }, false, ""},
		"of another machine":   {elsewhere, false, `it runs on host "elsewhere", or in another pid namespace of this one; nothing was signalled or changed`},
		"of another namespace": {func(r *agent.Record) { r.Process.PIDNS++ }, false, "nothing was signalled or changed"},
		"of another machine, which saw the end": {func(r *agent.Record) {
			elsewhere(r)
			r.AddExit(agent.Exit{Invocation: r.Process.Invocation})
		}, false, ""},
	} {
		for verb, end := range ends {
			w := newWorld(t)
			w.has("alpha", func(r *agent.Record) {
				if w.live(r); c.ends {
					w.registers(r)
				}
				c.change(r)
			})
			_, err := end(w, t.Context())
			if w.lives() == c.ends || (err == nil) != (c.words == "") {
				t.Errorf("%s %s: lives %t, %v", verb, what, w.lives(), err)
			}
			if c.words == "" {
				continue
			}
			mustSay(t, verb+" "+what, err, fail.Conflict, c.words)
			if r, err := w.Project.Store.Load("alpha"); err != nil || r.Desired != agent.DesiredRunning {
				t.Errorf("%s %s: what was refused is written down: %v", verb, what, err)
			}
		}
	}
}

// A disk that takes nothing keeps no agent alive; what could not be written is said.
func TestEndThatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	for what, words := range map[string]map[string]string{
		"project/.nbs/locks/alpha.record": {"stop": "it was ended, but could not be marked as stopped: lock .nbs/locks/alpha.record", "dismiss": "it was ended, but could not be marked as stopped"},
		"project/.nbs/journal.jsonl": {
			"stop":    "it was ended and marked as stopped, but the journal does not say so: open .nbs/journal.jsonl",
			"dismiss": "it was ended, and its record stays: the journal could not take its session id",
		},
	} {
		for verb, end := range ends {
			w := newWorld(t)
			w.has("alpha", func(r *agent.Record) { w.live(r); w.registers(r) })
			w.inTheWay(what)
			_, err := end(w, t.Context())
			mustSay(t, verb+" "+what, err, fail.Failed, words[verb])
			_, err = w.Project.Store.Load("alpha")
			rig.Check(t, err == nil && !w.lives(), "%s %s: the agent was left running, or its record is gone: %v", verb, what, err)
		}
	}
}

// An agent that does not run is marked as stopped, again and again; what a killed verb has left of
// its secrets goes. The journal keeps the session id of one that is dismissed.
func TestEndOfTheDead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.has("alpha", asItIs)
	w.must(w.Project.Store.PutLaunch("alpha", store.Launch{Env: []string{"SECRET=x"}}))
	for range 2 {
		stopped, err := w.Stop(t.Context(), "alpha")
		left, _ := filepath.Glob(w.Project.Store.Runtime() + "/*/launch/*.json")
		rig.Check(t, err == nil && stopped.Record.Desired == agent.DesiredStopped && len(left) == 0, "%v; left: %v", err, left)
	}
	_, err := w.Dismiss(t.Context(), "alpha", false)
	w.must(err)
	w.mustNote("dismiss", r.SessionID)
	_, err = w.Dismiss(t.Context(), "alpha", false)
	mustSay(t, "again", err, fail.NotFound, "no such agent")
}

// What is kept of a conversation goes with its agent, unless it is to stay, is the last of it, or
// is another agent's.
func TestWhatADismissRemoves(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		happens           func(w *world, r *agent.Record)
		keep, stays, told bool
	}{
		"it goes":                              {func(*world, *agent.Record) {}, false, false, false},
		"--keep":                               {func(*world, *agent.Record) {}, true, true, true},
		"the last":                             {func(w *world, r *agent.Record) { w.must(os.Remove(w.transcript(r.SessionID))) }, false, true, true},
		"the beginning, which Claude has lost": {func(w *world, r *agent.Record) { w.put(w.transcript(r.SessionID), talk(2)) }, false, true, true},
		"another agent's": {func(w *world, r *agent.Record) {
			w.has("beta", func(other *agent.Record) {
				other.PreviousSessions = []agent.PreviousSession{{SessionID: r.SessionID, Until: r.Started, Reason: "clear"}}
			})
		}, false, true, false},
	} {
		w := newWorld(t)
		r := w.has("alpha", asItIs)
		w.put(w.transcript(r.SessionID), talk(0, 1))
		w.must(w.Keeper.Keep(t.Context(), &r))
		c.happens(w, &r)
		gone, err := w.Dismiss(t.Context(), "alpha", c.keep)
		kept, keptErr := w.Keeper.KeptOf(r.SessionID)
		err = errors.Join(err, keptErr, gone.Unkept)
		rig.Check(t, err == nil && (kept != nil) == c.stays && (len(gone.Kept) > 0) == c.told, "%s: %v, there is %+v, and is said to be %q", what, err, kept, gone.Kept)
	}
}

// A stop says nothing of where the configuration is that the original tools did not record, and
// another configuration is not taken for it.
func TestRecordOfTheOriginalTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.has("alpha", func(r *agent.Record) {
		r.Spec = agent.Spec{Handle: "alpha", SessionID: r.SessionID, ProjectRoot: r.ProjectRoot, InitialPrompt: r.InitialPrompt}
	})
	w.put(w.transcript(r.SessionID), talk(0))
	stopped, err := w.Stop(t.Context(), "alpha")
	rig.Check(t, err == nil && stopped.Record.Schema == 0, "%+v, %v", stopped.Record.Spec, err)
	plan, err := w.PlanResume(t.Context(), "alpha", inPlace)
	now := plan.Record.Spec
	rig.Check(t, err == nil && now.Schema == agent.Schema && now.ConfigDir == w.dir+"/config" && plan.Opening == resumed, "%+v, %v", now, err)
	w.Project.Env[1] = "CLAUDE_CONFIG_DIR=" + w.dir + "/other"
	_, err = w.PlanResume(t.Context(), "alpha", inPlace)
	mustSay(t, "elsewhere", err, fail.NotFound, "its transcript is gone")
}

// What stopped an agent decides whether up starts it again: its team, or a person who meant this one.
func TestWhoseStopItWas(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		stops  []string
		downed bool
	}{
		"a person's":              {[]string{"stop"}, false},
		"the team's":              {[]string{"down"}, true},
		"the team's, twice":       {[]string{"down", "down"}, true},
		"a person's, then a down": {[]string{"stop", "down"}, false},
		"a person's after a down": {[]string{"down", "stop"}, false},
	} {
		w := newWorld(t)
		w.has("alpha", asItIs)
		for _, verb := range c.stops {
			stop := w.Stop
			if verb == "down" {
				stop = w.Down
			}
			_, err := stop(t.Context(), "alpha")
			w.must(err)
		}
		r, err := w.Project.Store.Load("alpha")
		w.must(err)
		rig.Check(t, r.Desired == agent.DesiredStopped && r.Downed == c.downed, "%s: desired %s, downed %t", what, r.Desired, r.Downed)
	}
}

// A message that comes in the moment of a dismissal is dropped with the others: the next agent of that name must not get
// it.
func TestMessageInTheMomentOfADismissal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.has("alpha", asItIs)
	w.waits("alpha", "one")
	box := w.Project.Store.Outbox("alpha")
	release, err := store.LockFile(t.Context(), w.Project.Store.Folder()+"/locks/journal") // the dismissal waits for it
	w.must(err)
	type outcome struct {
		stopped Stopped
		err     error
	}
	over := make(chan outcome, 1)
	go func() {
		stopped, err := w.Dismiss(t.Context(), "alpha", false)
		over <- outcome{stopped, err}
	}()
	rig.Eventually(t, "its outbox is cleared", func() bool { return box.Newest() == "" })
	w.waits("alpha", "two")
	release()
	done := <-over
	w.must(done.err)
	rig.Equal(t, done.stopped.Dropped, 2, "dropped messages")
	rig.Equal(t, box.Newest(), "", "a message for the next agent of that name")
	text := w.read(w.Project.Store.Folder() + "/journal.jsonl")
	rig.Check(t, strings.Contains(text, ": two") && strings.Contains(text, string(r.SessionID)), "the journal does not have it: %s", text)
}
