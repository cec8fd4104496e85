package supervisor

import (
	"slices"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"

	"nbs-worker/internal/sim/rig"
)

// What is set is in the record, under a seal, and what is not named stays.
func TestSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.has("alpha", asItIs)
	set := Set{
		Model: new(agent.Model("opus")), PermissionMode: new(agent.PermissionMode("plan")), Prompt: new("Begin."), Restart: new(agent.RestartOnFailure),
	}
	changed, err := w.Set(t.Context(), "alpha", set)
	w.must(err)
	var fields []string
	for _, c := range changed.Changes {
		fields = append(fields, c.Field)
		rig.Check(t, c.Now == (c.Field == "restart"), "%+v", c)
	}
	rig.Check(t, slices.Equal(fields, []string{"model", "permission-mode", "prompt", "restart"}) && !changed.Runs, "%+v", changed)
	r, err := w.Project.Store.Load("alpha")
	w.must(err)
	w.must(w.Project.Store.CheckSeal(&r))
	if r.Model != "opus" || r.PermissionMode != "plan" || r.InitialPrompt != "Begin." || r.Restart.Policy != agent.RestartOnFailure || r.SessionID != before.SessionID {
		t.Errorf("%+v", r.Spec)
	}
	if changed, err = w.Set(t.Context(), "alpha", set); err != nil || len(changed.Changes) > 0 {
		t.Errorf("the same once more: %v, %+v", err, changed.Changes)
	}
}

// Arguments and variables are compared as a whole, and shown as they are typed.
func TestSetOfArgumentsAndVariables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has("alpha", func(r *agent.Record) {
		r.ClaudeArgs, r.Env = []string{"--effort", "low"}, map[string]string{"B": "2", "A": "1"}
	})
	changed, err := w.Set(t.Context(), "alpha", Set{Args: &[]string{"--effort", "low"}, Env: &map[string]string{"A": "1", "C": "x y"}})
	w.must(err)
	want := []Change{{Field: "environment", From: "A=1 B=2", To: "A=1 'C=x y'"}}
	rig.Check(t, slices.Equal(changed.Changes, want), "%+v", changed.Changes)
	r, err := w.Project.Store.Load("alpha")
	w.must(err)
	w.must(w.Project.Store.CheckSeal(&r))
	rig.Check(t, len(r.Env) == 2 && r.Env["C"] == "x y", "%+v", r.Env)
}

// What is refused changes nothing of it.
func TestSetOfWhatIsRefused(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		change func(*world)
		set    Set
		kind   fail.Kind
		words  string
	}{
		"a prompt that leaves": {func(*world) {}, Set{Model: new(agent.Model("opus")), Prompt: new("/exit")}, fail.BadInput, "prompt"},
		"bypassing as root":    {func(w *world) { w.Project.UID = 0 }, Set{Model: new(agent.Model("opus")), PermissionMode: new(agent.BypassPermissions)}, fail.BadInput, "claude would refuse"},
	} {
		w := newWorld(t)
		w.has("alpha", func(r *agent.Record) { r.PermissionMode = "default" })
		c.change(w)
		_, err := w.Set(t.Context(), "alpha", c.set)
		mustSay(t, what, err, c.kind, c.words)
		if r, err := w.Project.Store.Load("alpha"); err != nil || r.Model != "" {
			t.Errorf("%s: %v, %+v", what, err, r.Spec)
		}
	}
}

// A policy that is taken back ends what its launcher waits for.
func TestSetRestartToNo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.has("alpha", func(r *agent.Record) {
		r.Restart.Policy, r.Restarts = agent.RestartAlways, agent.Restarts{Step: 1, Next: time.Now().Add(time.Hour)}
	})
	changed, err := w.Set(t.Context(), "alpha", Set{Restart: new(agent.RestartNo)})
	w.must(err)
	rig.Check(t, changed.Record.Restarts.Next.IsZero(), "%+v", changed.Record.Restarts)
}

// A reset forgets the failures and the hold, and nothing else.
func TestReset(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	kept := agent.Restarts{Counted: []time.Time{at, at}, Step: 2, Next: at, Hold: &agent.Hold{Class: agent.EndCrash, Reason: "it failed", Since: at}}
	w.has("alpha", func(r *agent.Record) { r.Restarts = kept })
	r, was, err := w.Reset(t.Context(), "alpha")
	w.must(err)
	if was.Hold == nil || len(was.Counted) != 2 || r.Restarts.Hold != nil || len(r.Restarts.Counted) > 0 || r.Restarts.Step > 0 || !r.Restarts.Next.Equal(at) {
		t.Errorf("was %+v, is %+v", was, r.Restarts)
	}
	if _, was, err = w.Reset(t.Context(), "alpha"); err != nil || was.Hold != nil {
		t.Errorf("once more: %v, %+v", err, was)
	}
}
