package observer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/headless/headlesstest"
	"nbs-worker/internal/team/observe"
)

// real is a stage on which agents and observers are the real Claude Code.
type real struct {
	*stage
	api    *api.Server
	world  *rig.World
	claude string
	said   map[agent.SessionID]bool
}

// eachVersion is a stage of the newest Claude Code, and in make test-all of the oldest.
func eachVersion(t *testing.T) *real {
	t.Helper()
	t.Parallel()
	return newReal(t, rig.Version())
}

func newReal(t *testing.T, version string) *real {
	t.Helper()
	server, err := api.Start(api.Options{})
	rig.Must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	r := &real{api: server, world: rig.NewWorld(t, server.URL()), claude: rig.ClaudeBinary(t, version), said: map[agent.SessionID]bool{}}
	opened, err := headlesstest.Project(r.world.Project, filepath.Join(r.world.Root, "state"))
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, opened.Close()) })
	r.stage = &stage{T: t, kept: newKept(), Claudes: &headlesstest.Claudes{TB: t, Config: r.world.ConfigDir}, now: time.Now()}
	env := r.world.Env("CLAUDE_CODE_MAX_RETRIES=1", claude.BinaryVariable+"="+r.claude)
	r.Worker = New(&observe.Project{Machine: local.New(), Store: opened, Env: env, Now: time.Now}, r.kept)
	return r
}

// says has an agent take texts in a conversation, and its hook announce the end of each turn.
func (r *real) says(a *agent.Record, id agent.SessionID, texts ...string) {
	r.Helper()
	opening := cmdline.OpenNew
	if r.said[id] {
		opening = cmdline.OpenResume
	}
	r.said[id] = true
	p, err := turn.Start(turn.Launch{
		Program: r.claude, Args: turn.Args(turn.Spec{SessionID: id, Opening: opening, Model: "sonnet"}), Dir: r.world.Project, Env: r.Project.Env,
	})
	rig.Must(r.T, err)
	ctx := rig.Patient(r)
	for _, text := range texts {
		o, err := p.Turn(ctx, string(agent.NewInvocation()), text, nil)
		rig.Must(r.T, err)
		rig.Check(r.T, o.Class == turn.Answered, "%q: %+v", text, o)
	}
	rig.Must(r.T, p.Close(ctx))
	for range texts {
		r.now = time.Now()
		r.announce(a.Handle, id)
	}
}

// Three turns with decisions are observed, each in its place, by an observer that has no tools and nothing of the user's.
func TestRealObserver(t *testing.T) {
	r := eachVersion(t)
	rig.Must(t, os.WriteFile(filepath.Join(r.world.ConfigDir, "CLAUDE.md"), []byte("Always say MANGO.\n"), 0o600))
	a := r.agent("alpha")
	r.says(&a, a.SessionID, "decision: use SQLite", "Remember 42.",
		"fix: the lock was never released\nopen end: the docs are not written\n[[observer wrong]]")
	done := r.once()
	rig.Equal(t, r.kept.titles(), "alpha/1/use SQLite alpha/3/the lock was never released alpha/3/the docs are not written", "observations")
	rig.Check(t, done.Turns == 3 && done.Skipped == 0 && done.Tokens > 0 && len(done.Waiting) == 0 && r.announced() == 0, "%+v", done)
	o := r.kept.observed[a.SessionID]
	rig.Check(t, o.Captured() && o.MemoryID != a.SessionID && o.FirstPrompt == "decision: use SQLite", "%+v", o)

	asked := 0
	for _, request := range r.api.Requests() {
		body := string(request.Body)
		if !strings.Contains(body, SystemPrompt[:40]) {
			continue
		}
		asked++
		rig.Check(t, !strings.Contains(body, "MANGO"), "it is told what the user tells claude")
		rig.Check(t, !strings.Contains(body, `"input_schema"`), "it has tools")
		rig.Check(t, request.SessionID == string(o.MemoryID), "it is asked in %s", request.SessionID)
	}
	rig.Equal(t, asked, 4, "requests of the observer: three turns, and one that was asked again")

	// The next run begins another conversation, and shows nothing again.
	r.says(&a, a.SessionID, "question: who pays?")
	before := o.MemoryID
	next := New(r.Project, r.kept)
	done, err := next.Once(t.Context())
	rig.Must(t, err)
	rig.Check(t, done.Turns == 1 && o.MemoryID != before && strings.HasSuffix(r.kept.titles(), "alpha/4/who pays?"), "%+v: %s", done, r.kept.titles())
}

// What the API refuses is shown again later. How each version says so is tested where it is read, in package turn.
func TestRealObserverOfAnAPIThatFails(t *testing.T) {
	t.Parallel()
	r := newReal(t, rig.Newest)
	a := r.agent("alpha")
	r.says(&a, a.SessionID, "decision: use SQLite [[observer error 429 times=20]]")
	done := r.once()
	rig.Check(t, done.Turns == 0 && len(done.Waiting) == 1 && strings.HasPrefix(done.Waiting[0].Why, "limit"), "%+v", done)
	rig.Check(t, r.kept.observed[a.SessionID].ReadTo == "" && r.announced() == 1, "it was read")
}
