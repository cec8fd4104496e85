package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/store/trust"
)

// asking is a project whose agents ask, by hooks that the test plays.
type asking struct {
	*testing.T
	project string
	store   *store.Store
}

func newAsking(t *testing.T) *asking {
	t.Helper()
	project := newProject(t, uitest.Record("alpha"), uitest.Record("beta"))
	s, err := store.Open(project)
	rig.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	s.UseHome(home)
	s.RunIn(trust.RuntimeOf(os.Environ(), home))
	return &asking{t, project, s}
}

func (a *asking) run(args ...string) ran {
	return run(append([]string{"--root", a.project}, args...)...)
}

func (a *asking) asks(handle agent.Handle, tool, input, suggested string) *requests.Waiting {
	a.Helper()
	r := requests.Request{Handle: handle, At: time.Now().Add(-time.Minute), Mode: "default", Tool: tool, Input: json.RawMessage(input)}
	if suggested != "" {
		r.Suggested = json.RawMessage(suggested)
	}
	w, err := a.store.Requests().Open(r)
	rig.Must(a, err)
	a.Cleanup(w.Close)
	return w
}

// taken takes the answer to a request, when it is there.
func (a *asking) taken(w *requests.Waiting) chan requests.Answer {
	got := make(chan requests.Answer, 1)
	go func() {
		defer close(got)
		defer w.Close()
		for a.Context().Err() == nil {
			if answer, there, _ := w.Answer(); there && w.Take(answer) == nil {
				got <- answer
				return
			}
			<-time.After(time.Millisecond)
		}
	}()
	return got
}

const always = `[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"make:*"}],"behavior":"allow","destination":"localSettings"}]`

const database = `{"questions":[{"question":"Which database?","header":"DB","options":[{"label":"Postgres","description":"big"},{"label":"SQLite"}]}]}`

func TestRequestsAreListed(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	r := a.run("requests").want(t, 0)
	rig.Check(t, r.out == "" && r.err == "", "to a script: %+v", r)
	person := ui.Streams{OutTTY: true, ErrTTY: true, Width: 80}
	runOn(person, "--root", a.project, "requests").want(t, 0, "no requests")
	rig.Check(t, a.run("requests", "--json").want(t, 0).out == "[]\n", "none as JSON")
	a.run("requests", "nobody").want(t, fail.NotFound, "requests: nobody: no such agent")
	first := a.asks("alpha", "Bash", `{"command":"make\nmake \u001b[2J","description":"Build"}`, always)
	alone := runOn(person, "--root", a.project, "requests").want(t, 0, "hint: nbs-worker --root "+a.project+" approve alpha "+first.ID, "deny alpha "+first.ID)
	second := a.asks("beta", "AskUserQuestion", database, "")
	r = a.run("requests").want(t, 0)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	rig.Check(t, len(lines) == 2, "%q", r.out)
	for i, want := range []string{first.ID + "\talpha\t*\tBash\tmake make ?[2J", second.ID + "\tbeta\t*\tAskUserQuestion\tWhich database?"} {
		fields := strings.Split(lines[i], "\t")
		fields[2] = "*" // the time
		rig.Equal(t, strings.Join(fields, "\t"), want, "line %d", i)
	}
	want := first.ID + `  alpha  Bash  1 minute ago
  command:
    make
    make ?[2J
  description: Build
with --always: allow Bash(make:*), in .claude/settings.local.json
`
	rig.Check(t, a.run("requests", "ALPHA").want(t, 0).out == want && alone.out == want, "whole: %q", alone.out)
	rig.Check(t, strings.HasPrefix(a.run("requests", "--full").want(t, 0).out, want+"\n"+second.ID+"  beta"), "all of them whole")
	var all []wire.Request
	rig.Must(t, json.Unmarshal([]byte(a.run("requests", "--json", "beta", "alpha").want(t, 0).out), &all))
	rig.Check(t, len(all) == 2 && string(all[0].Input) == `{"command":"make\nmake \u001b[2J","description":"Build"}` && all[0].Title == "Bash: make make ?[2J" && all[0].PermissionMode == "default", "%+v", all)
	rig.Check(t, len(all[1].Questions) == 1 && all[1].Questions[0].Options[1].Label == "SQLite" && len(all[1].Always) == 0, "%+v", all)
}

func TestVerbsAnswerARequest(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	person := ui.Streams{OutTTY: true, ErrTTY: true}
	asked := a.asks("alpha", "Bash", `{"command":"make"}`, always)
	got := a.taken(asked)
	// No claude runs here. That the dialog goes is proved in e2e/send.
	const unproved = "the answer was given and is not proved: the agent's hook has taken the answer to "
	runOn(person, "--root", a.project, "approve", "alpha", "--always").want(t, fail.Failed, "approve alpha: "+unproved+asked.ID, "its claude has ended")
	rig.Check(t, string((<-got).Rules) == always, "the rules are others")
	a.run("approve", "alpha", asked.ID).want(t, fail.Conflict, "approve alpha: the request is answered already: "+asked.ID)

	got = a.taken(a.asks("alpha", "Bash", `{"command":"rm -rf build"}`, ""))
	a.run("deny", "alpha", "--message", "Use make clean.", "--json").want(t, fail.Failed, unproved)
	answer := <-got
	rig.Check(t, !answer.Allow && answer.Message == "Use make clean." && answer.By != "", "%+v", answer)

	asked = a.asks("beta", "AskUserQuestion", database, "")
	a.run("approve", "beta").want(t, fail.BadInput, "is a question", "hint: nbs-worker --root "+a.project+" answer beta "+asked.ID+" 1")
	a.run("answer", "beta").want(t, fail.BadInput, "answer: a choice is needed", "requests beta")
	a.run("answer", "beta", asked.ID).want(t, fail.BadInput, "answer beta: a choice is needed")
	a.run("answer", "beta", "00000000", "1").want(t, fail.Conflict, "the request is over: 00000000", "nothing was done")
	a.run("answer", "beta", "7").want(t, fail.BadInput, "has no option 7")
	got = a.taken(asked)
	a.run("answer", "beta", asked.ID, "sqlite").want(t, fail.Failed, unproved)
	rig.Check(t, strings.Contains(string((<-got).Input), `"answers":{"Which database?":"SQLite"}`), "the answer is another")
}

func TestVerbsAnswerNothingByGuess(t *testing.T) {
	t.Parallel()
	a := newAsking(t)
	a.run("approve", "alpha").want(t, fail.NotFound, "no request of it is open", "attach alpha")
	a.run("approve", "alpha", "a", "b").want(t, fail.BadInput, "at most one id")
	a.run("approve").want(t, fail.BadInput, "a handle is needed")
	one, two := a.asks("alpha", "Bash", `{"command":"make one"}`, ""), a.asks("alpha", "Bash", `{"command":"make two"}`, "")
	a.run("approve", "alpha").want(t, fail.BadInput, "2 requests of it are open", one.ID+"  Bash: make one", two.ID+"  Bash: make two")
	a.run("deny", "alpha", "").want(t, fail.BadInput, "the id is empty")
	a.run("approve", "beta", one.ID).want(t, fail.NotFound, "is one of alpha")
	a.run("approve", "alpha", one.ID, "--always").want(t, fail.BadInput, "Claude suggests no rule")
	a.run("answer", "alpha", one.ID, "1").want(t, fail.BadInput, "is no question")
	for _, w := range []*requests.Waiting{one, two} {
		fate, _ := a.store.Requests().FateOf(w.ID)
		rig.Check(t, fate == requests.Open, "%s is answered", w.ID)
	}
	one.Close()
	a.run("approve", "alpha", one.ID).want(t, fail.Conflict, "the request is over: "+one.ID)
}
