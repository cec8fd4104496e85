package supervisor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/observe"
)

// What runs, or may run, is not started, and what is to be done is said.
func TestWhatMayBeStarted(t *testing.T) {
	t.Parallel()
	s := New(&observe.Project{Machine: local.New(), Store: store.Absent("/srv")}, nil)
	dead, foreign := agent.Status{State: agent.Dead}, agent.Status{State: agent.Unknown, Detail: "it runs on host x"}
	idle, leaving := agent.Status{State: agent.Idle, SamePID: true}, agent.Status{State: agent.Unknown, SamePID: true}
	silent, notOurs := fail.Errorf(fail.TimedOut, "tmux is silent"), fail.Errorf(fail.BadInput, "x")
	begun, half := agent.Record{Process: &agent.Process{}}, agent.Record{Desired: agent.DesiredStopped}
	pane := &tmux.Pane{}
	for what, c := range map[string]struct {
		sight observe.Sight
		force bool
		first bool      // it is to be ended before
		kind  fail.Kind // 0: it may be started
		words []string
	}{
		"dead":                                {observe.Sight{Status: dead}, false, false, 0, nil},
		"dead, forced":                        {observe.Sight{Status: dead}, true, false, 0, nil},
		"dead, and tmux is silent":            {observe.Sight{Status: dead, Err: silent}, false, false, 0, nil},
		"begun, and tmux is silent":           {observe.Sight{Status: dead, Err: silent, Record: begun}, true, false, fail.TimedOut, []string{"tmux is silent"}},
		"begun, at a socket that is not ours": {observe.Sight{Status: dead, Err: notOurs, Record: begun}, false, false, 0, nil},
		"not to be told":                      {observe.Sight{Status: foreign}, false, false, fail.Conflict, []string{"cannot determine whether the agent runs: it runs on host x", "move its record aside: mv ", "spawn alpha --session-id"}},
		"not to be told, forced":              {observe.Sight{Status: foreign}, true, false, fail.Conflict, []string{"cannot determine whether the agent runs"}},
		"in a pane":                           {observe.Sight{Status: idle, Pane: pane}, false, true, fail.Conflict, []string{"the agent runs already: idle, pid 9", "nbs-worker attach alpha", "repeat the command with --force"}},
		"in no pane":                          {observe.Sight{Status: idle}, false, true, fail.Conflict, []string{"it runs as pid 0, without a terminal: go there", "--force"}},
		"being started":                       {observe.Sight{Status: agent.Status{State: agent.Starting}}, false, true, fail.Conflict, []string{"runs already: starting", "attach alpha"}},
		"leaving":                             {observe.Sight{Status: leaving}, false, true, fail.Conflict, []string{"runs already: unknown"}},
		"live, and tmux is silent":            {observe.Sight{Status: idle, Err: silent}, false, true, fail.Conflict, []string{"runs already: idle, pid 9; tmux is silent", "attach alpha"}},
		"half stopped":                        {observe.Sight{Status: idle, Pane: pane, Record: half}, false, true, fail.Conflict, []string{"though it is marked as stopped"}},
		"live, forced":                        {observe.Sight{Status: idle, Pane: pane}, true, true, 0, nil},
	} {
		r := &c.sight.Record
		if r.Handle, r.PID = "alpha", 9; r.Process == nil {
			r.Process = &agent.Process{Launcher: agent.Identified{PID: 7}}
		}
		endFirst, err := s.startable(&c.sight, c.force)
		mustSay(t, what, err, c.kind, c.words...)
		rig.Check(t, endFirst == c.first, "%s: it is to be ended before: %t", what, endFirst)
	}
}

// A first prompt that was never delivered is not dropped without a word.
func TestFirstPromptInWhosePlaceAnotherIsSent(t *testing.T) {
	t.Parallel()
	other := Resume{Start: launch.Start{Prompt: "other"}}
	started := Resume{Fresh: true, Start: other.Start}
	said := []string{
		other.droppedPrompt(fresh, "first"), // then what leaves nothing unsaid:
		started.droppedPrompt(fresh, "first"), other.droppedPrompt(resumed, "first"), other.droppedPrompt(fresh, "other"), inPlace.droppedPrompt(fresh, "first"),
	}
	got := strings.Join(said, ",")
	rig.Check(t, got == "first,,,,", "%s", got)
}

// inPlace is a resume that needs no tmux.
var inPlace = Resume{Start: launch.Start{InPlace: true}}

const fiveTurns, fresh, resumed = 5, cmdline.OpenNew, cmdline.OpenResume

// broken is what may have happened to a transcript of five turns that is kept, and with which flag
// claude is started then, or why it is not.
var broken = map[string]struct {
	happens func(w *world, path, whole string)
	opening cmdline.Opening
	said    string // what became of it; "": nothing is put back
	kind    fail.Kind
	words   []string
}{
	"nothing":                          {func(*world, string, string) {}, resumed, "", 0, nil},
	"it was deleted":                   {func(w *world, path, _ string) { w.must(os.Remove(path)) }, resumed, "was gone", 0, nil},
	"an empty one is in its place":     {func(w *world, path, _ string) { w.put(path, "") }, resumed, "was gone", 0, nil},
	"the end is missing":               {func(w *world, path, _ string) { w.put(path, talk(0, 1)) }, resumed, "had lost a part", 0, nil},
	"the middle":                       {func(w *world, path, _ string) { w.put(path, talk(0, 3, 4)) }, resumed, "had lost a part", 0, nil},
	"the start":                        {func(w *world, path, _ string) { w.put(path, talk(2, 3, 4)) }, resumed, "had lost a part", 0, nil},
	"all but one":                      {func(w *world, path, _ string) { w.put(path, talk(2)) }, resumed, "had lost a part", 0, nil},
	"claude went on in a new one":      {func(w *world, path, _ string) { w.put(path, talk(fiveTurns)) }, resumed, "had lost a part", 0, nil},
	"claude went on in an older one":   {func(w *world, path, _ string) { w.put(path, talk(0, 1, fiveTurns)) }, resumed, "had lost a part", 0, nil},
	"the end was cut off in place":     {func(w *world, path, _ string) { w.must(os.WriteFile(path, []byte(talk(0, 1, 2)), 0o600)) }, resumed, "", 0, nil},
	"it was emptied in place":          {func(w *world, path, _ string) { w.must(os.Truncate(path, 0)) }, "", "", fail.NotFound, []string{"is empty now", "resume alpha --fresh"}},
	"it was written over, longer":      {func(w *world, path, whole string) { w.writeOver(path, renamed(whole)+talk(7)) }, "", "", fail.Conflict, []string{"was overwritten", "rm ", "resume alpha --fresh"}},
	"it was written over, as long":     {func(w *world, path, whole string) { w.writeOver(path, strings.ReplaceAll(whole, "er 4", "er 5")) }, "", "", fail.Conflict, []string{"was overwritten"}},
	"it was written over, shorter":     {func(w *world, path, whole string) { w.writeOver(path, renamed(whole)[:len(whole)/2]) }, "", "", fail.Conflict, []string{"was overwritten"}},
	"another way":                      {func(w *world, path, whole string) { w.put(path, talk(0, 1)+renamed(whole)) }, "", "", fail.Conflict, []string{"and its kept copy differ", "to go on with the kept copy: mv ", "to go on with Claude's transcript: mv "}},
	"it was deleted, and what is kept": {func(w *world, path, _ string) { w.lose(path) }, "", "", fail.NotFound, []string{"its transcript is gone", "resume alpha --fresh"}},
	"the project has one": {func(w *world, path, whole string) {
		w.lose(path)
		w.put(filepath.Join(w.Project.Store.Folder(), "transcripts", filepath.Base(path)), whole)
	}, "", "", fail.NotFound, []string{"its transcript is gone", "resume alpha --fresh"}},
}

func renamed(text string) string { return strings.ReplaceAll(text, `"0000`, `"9000`) }

func (w *world) writeOver(path, text string) { w.must(os.WriteFile(path, []byte(text), 0o600)) }

func (w *world) lose(path string) {
	w.must(os.Remove(path))
	w.must(os.RemoveAll(w.dir + "/state/transcripts"))
}

func TestHowAConversationIsResumed(t *testing.T) {
	t.Parallel()
	for what, c := range broken {
		w, whole := newWorld(t), talk(0, 1, 2, 3, 4)
		r := w.has("alpha", func(r *agent.Record) { r.TranscriptSeen = r.Started })
		path := w.transcript(r.SessionID)
		w.put(path, whole)
		w.must(w.Keeper.Keep(t.Context(), &r))
		c.happens(w, path, whole)
		for range 2 { // to look at it does not make it right
			plan, err := w.PlanResume(t.Context(), "alpha", inPlace)
			mustSay(t, what, err, c.kind, c.words...)
			if plan.Opening != c.opening || plan.Prompt != "" || (plan.Loss != nil) != strings.Contains(what, "cut off") {
				t.Errorf("%s: %s, %+v", what, plan.Opening, plan.Loss)
			}
			_, _ = w.Inspector.Inspect(t.Context(), "alpha")
		}
		ready, err := w.Prepare(t.Context(), "alpha", true, nil)
		if mustSay(t, what, err, c.kind); c.said == "" {
			continue
		}
		if ready.Restored == nil || !strings.HasPrefix(ready.Restored.What, c.said) || !strings.HasPrefix(w.read(path), whole) || strings.Contains(what, "went on") && !strings.HasSuffix(w.read(path), talk(fiveTurns)) {
			t.Errorf("%s: %+v: %s", what, ready.Restored, w.read(path))
		}
		w.mustNote("restored", r.SessionID)
	}
}

// What was never said is said; a conversation is replaced when that is asked for only, and gone
// back to when it was the agent's.
func TestWhichConversationIsResumed(t *testing.T) {
	t.Parallel()
	w, earlier := newWorld(t), agent.NewSessionID()
	r := w.has("alpha", func(r *agent.Record) {
		r.PreviousSessions = []agent.PreviousSession{{SessionID: earlier, Until: r.Started, Reason: "clear"}}
	})
	w.put(w.transcript(earlier), talk(0))
	for _, c := range []struct {
		resume  Resume
		opening cmdline.Opening
		id      agent.SessionID // "": a new one
		prompt  string
	}{
		{inPlace, fresh, r.SessionID, "Remember 42."},
		{Resume{Start: launch.Start{InPlace: true, Prompt: "other"}}, fresh, r.SessionID, "other"},
		{Resume{SessionID: earlier, Start: inPlace.Start}, resumed, earlier, ""},
		{Resume{Fresh: true, Start: inPlace.Start}, fresh, "", "Remember 42."},
	} {
		plan, err := w.PlanResume(t.Context(), "alpha", c.resume)
		now := plan.Record.Spec
		if err != nil || plan.Opening != c.opening || plan.Prompt != c.prompt || c.id != "" && now.SessionID != c.id || c.id == "" && now.PreviousSessions[1].SessionID != r.SessionID {
			t.Errorf("%+v: %s, %q, %+v, %v", c.resume, plan.Opening, plan.Prompt, now, err)
		}
	}
	_, err := w.PlanResume(t.Context(), "alpha", Resume{SessionID: agent.NewSessionID(), Start: inPlace.Start})
	mustSay(t, "elsewhere", err, fail.NotFound, "was never in the conversation ", "--session-id "+string(earlier))
	w.has("beta", func(r *agent.Record) { r.SessionID = earlier }) // as by spawn beta --session-id
	_, err = w.PlanResume(t.Context(), "alpha", Resume{SessionID: earlier, Start: inPlace.Start})
	mustSay(t, "another agent's by now", err, fail.Conflict, "belongs to agent beta", "nbs-worker resume beta")
	_, err = w.PlanResume(t.Context(), "alpha", Resume{SessionID: r.SessionID, Start: inPlace.Start})
	mustSay(t, "its own", err, 0)
}

// A folder that is gone from where it was is named, and so is the way out; with the project it moves.
func TestFolderOfAResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lost, sub := w.dir+"/lost", w.Project.Store.Project()+"/sub"
	w.must(os.Mkdir(sub, 0o700))
	w.has("alpha", func(r *agent.Record) { r.Cwd = lost })
	_, err := w.PlanResume(t.Context(), "alpha", inPlace)
	mustSay(t, "gone", err, fail.NotFound, "the working directory", "nbs-worker resume alpha --cwd DIR")
	w.put(lost, "")
	_, err = w.PlanResume(t.Context(), "alpha", inPlace)
	mustSay(t, "a file", err, fail.BadInput, "is not a folder")
	plan, err := w.PlanResume(t.Context(), "alpha", Resume{Cwd: sub, Start: inPlace.Start})
	rig.Check(t, err == nil && plan.Record.Cwd == sub && *plan.Moved == (launch.Moved{From: lost, To: sub}), "%+v, %v", plan.Moved, err)
	w.has("beta", func(r *agent.Record) { r.ProjectRoot, r.Cwd = lost, lost+"/sub" })
	if plan, err = w.PlanResume(t.Context(), "beta", inPlace); err != nil || plan.Record.Cwd != sub || plan.Record.ProjectRoot != w.Project.Store.Project() {
		t.Errorf("%+v, %v", plan.Moved, err)
	}
}

// A start that cannot be written down ends no agent that works.
func TestForceEndsNothingThatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"project/.nbs/journal.jsonl", "project/.nbs/locks/alpha.record", "state/journals/*"} {
		w := newWorld(t)
		w.Project.Tmux, w.Project.Socket = tmux.NewServers().Client, w.dir+"/s" // of a server that is not there
		r := w.has("alpha", func(r *agent.Record) {
			w.live(r)
			r.Process.Launcher = r.Process.Identified // else it would be waited for
		})
		w.must(w.Project.Note(t.Context(), "spawn", &r, ""))
		name = w.inTheWay(name)
		_, err := w.Resume(t.Context(), "alpha", Resume{Force: true, Start: inPlace.Start})
		mustSay(t, name, err, fail.Failed, name)
		rig.Check(t, w.lives(), "%s: the agent was ended", name)
	}
}

// inTheWay puts a folder in the place of a file, and returns its name.
func (w *world) inTheWay(pattern string) string {
	w.Helper()
	path := filepath.Join(w.dir, pattern)
	if found, _ := filepath.Glob(path); len(found) > 0 { // the pattern is well formed
		path = found[0]
	}
	w.must(os.RemoveAll(path))
	w.must(os.MkdirAll(path, 0o700))
	return filepath.Base(path)
}

// A start that failed leaves the record as it was, but for what was seen of its transcript.
func TestRecordAfterAStartThatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.has("alpha", asItIs)
	plan, err := w.PlanResume(t.Context(), "alpha", Resume{Model: new(agent.Model("haiku")), Start: inPlace.Start})
	w.must(err)
	failed, err := w.starter().Claim(t.Context(), plan)
	w.must(err)
	_, err = w.Project.Store.Update(t.Context(), "alpha", func(r *agent.Record) error { r.TranscriptSeen = w.Project.Seconds(); return nil }) // by its launcher
	w.must(err)
	for _, c := range []struct {
		cause error
		kept  bool
	}{{fail.Errorf(fail.Interrupted, "x"), true}, {fail.Errorf(fail.Failed, "x"), false}} {
		_, err := w.settle(t.Context(), &resumption{before: before, plan: plan}, failed, c.cause)
		mustSay(t, "settle", err, fail.KindOf(c.cause), c.cause.Error())
		if now, err := w.Project.Store.Load("alpha"); err != nil || (now.Process != nil) != c.kept || (now.Model == "haiku") != c.kept || now.TranscriptSeen.IsZero() {
			t.Errorf("after %v: %+v, %v", c.cause, now.Spec, err)
		}
	}
	_, err = w.PlanResume(t.Context(), "alpha", inPlace)
	mustSay(t, "lost", err, fail.NotFound, "its transcript is gone")
}

// A start that stops at a dialog goes on: that it is in a new conversation is told and journaled beside the error.
func TestNewConversationOfAStartThatGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for what, cause := range map[string]error{"alpha": fail.Errorf(fail.Held, "claude waits at a dialog"), "beta": fail.Errorf(fail.Interrupted, "interrupted")} {
		handle := agent.Handle(what)
		before, resume := w.has(handle, asItIs), Resume{Fresh: true, Start: launch.Start{InPlace: true, Wait: 1}}
		plan, err := w.PlanResume(t.Context(), handle, resume)
		w.must(err)
		claimed, err := w.starter().Claim(t.Context(), plan)
		w.must(err)
		_, err = w.Project.Store.Update(t.Context(), handle, func(r *agent.Record) error {
			w.live(r)
			r.Process.Invocation = claimed.Process.Invocation
			return nil
		})
		w.must(err)
		started, err := w.settle(t.Context(), &resumption{Resume: resume, before: before, plan: plan}, claimed, cause)
		mustSay(t, what, err, fail.KindOf(cause), cause.Error())
		rig.Check(t, started.Fresh && started.Record.SessionID == plan.Record.SessionID, "%+v", started.Record.Spec)
		w.mustNote("resume", plan.Record.SessionID)
		rig.Check(t, strings.Contains(w.read(w.Project.Store.Folder()+"/journal.jsonl"), "in place of "+string(before.SessionID)+"; "+cause.Error()), "%s is not in the journal", cause)
	}
}

// What was cut off a transcript is known before claude goes on writing: one that is longer than it was
// does not count as written over, whatever became of the start.
func TestLossOfAStartThatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.has("alpha", func(r *agent.Record) { r.TranscriptSeen = r.Started })
	path := w.transcript(r.SessionID)
	w.put(path, talk(0, 1, 2))
	w.must(w.Keeper.Keep(t.Context(), &r))
	w.writeOver(path, talk(0, 1))
	plan, err := w.PlanResume(t.Context(), "alpha", inPlace)
	w.must(err)
	started, err := w.bringBack(t.Context(), &resumption{Resume: inPlace, before: r, plan: plan}) // there is no tmux
	mustSay(t, "start", err, fail.Unfit, "no tmux")
	rig.Check(t, started.Loss != nil, "the loss is not told")
	w.mustNote("lost", r.SessionID)
	w.writeOver(path, talk(0, 1, 2, 3))
	plan, err = w.PlanResume(t.Context(), "alpha", inPlace)
	mustSay(t, "once more", err, 0)
	rig.Check(t, plan.Loss == nil, "%+v", plan.Loss)
}

// A launcher takes the briefing away when its claude has left: that it is gone does not show that it was taken.
func TestBriefingOfAClaudeThatLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has("alpha", asItIs)
	plan, err := w.PlanResume(t.Context(), "alpha", inPlace)
	w.must(err)
	plan.Brief = "notes"
	r, err := w.starter().Claim(t.Context(), plan)
	w.must(err)
	mustSay(t, "taken", w.awaitBriefed(t.Context(), &plan, &r), 0)
	_, err = w.Project.Store.Update(t.Context(), "alpha", func(r *agent.Record) error {
		r.AddExit(agent.Exit{At: w.Project.Seconds(), Invocation: r.Process.Invocation, Signal: "killed"})
		return nil
	})
	w.must(err)
	mustSay(t, "left", w.awaitBriefed(t.Context(), &plan, &r), fail.Failed, "claude left right after its start (", "nbs-worker session alpha")
}

// The record names no start by hand that could not be readied; that of a new agent is kept, which is said.
func TestStartByHandThatCannotBeReadied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.has("alpha", asItIs)
	w.put(filepath.Join(w.Project.Store.Runtime(), w.Project.Store.ProjectHash(), "launch"), "") // in the place of the folder
	_, err := w.Prepare(t.Context(), "alpha", true, nil)
	mustSay(t, "run", err, fail.Unfit, "launch")
	now, err := w.Project.Store.Load("alpha")
	rig.Check(t, err == nil && now.Process == nil && now.SessionID == before.SessionID, "%+v, %v", now.Process, err)
	_, err = w.PrepareSpawn(t.Context(), Spawn{Spec: agent.Spec{Handle: "beta"}, UsualMode: "default", Start: launch.Start{InPlace: true, Prompt: "Remember 42."}})
	mustSay(t, "spawn", err, fail.Unfit, "launch", "its record is kept: nbs-worker resume beta tries again")
}

// Whichever of two transcripts a person takes, by the command in the hint, is gone on with: also if the other one was kept
// before.
func TestTranscriptsThatWentApartAreDecidedOnce(t *testing.T) {
	t.Parallel()
	for choice, want := range map[string]string{"to go on with the kept copy: ": talk(0, 1, 2), "to go on with Claude's transcript: ": talk(0, 1) + renamed(talk(2))} {
		for _, keptSince := range []bool{false, true} {
			w := newWorld(t)
			r := w.has("alpha", func(r *agent.Record) { r.TranscriptSeen = r.Started })
			path := w.transcript(r.SessionID)
			w.put(path, talk(0, 1, 2))
			w.must(w.Keeper.Keep(t.Context(), &r))
			w.put(path, talk(0, 1)+renamed(talk(2)))
			if keptSince {
				w.must(w.Keeper.Keep(t.Context(), &r))
			}
			_, err := w.PlanResume(t.Context(), "alpha", inPlace)
			mustSay(t, choice, err, fail.Conflict, "and its kept copy differ")
			i := slices.IndexFunc(fail.HintsOf(err), func(hint string) bool { return strings.HasPrefix(hint, choice) })
			out, err := exec.Command("/bin/sh", "-c", strings.TrimPrefix(fail.HintsOf(err)[i], choice)).CombinedOutput()
			rig.Check(t, err == nil, "%s: %v, %s", choice, err, out)
			plan, err := w.PlanResume(t.Context(), "alpha", inPlace)
			text, _ := os.ReadFile(path)
			rig.Check(t, err == nil && plan.Opening == resumed && string(text) == want, "%s (kept since: %t): %v, %v", choice, keptSince, plan.Opening, err)
		}
	}
}
