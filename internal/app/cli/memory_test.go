package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/supervisor"
)

type unused interface{ memory.Store }

// shelf is what is remembered, without a database.
type shelf struct {
	unused

	all    []memory.Observation
	status []memory.StatusOf
	faults []string
	asked  memory.Query
	closed int
}

func (m *shelf) Close() error { m.closed++; return nil }

func (m *shelf) Latest(_ context.Context, q memory.Query) ([]memory.Observation, error) {
	m.asked = q
	return m.all, nil
}

func (m *shelf) Search(ctx context.Context, q memory.Query) ([]memory.Observation, error) {
	return m.Latest(ctx, q)
}

func (m *shelf) Get(_ context.Context, id int64) (memory.Observation, error) {
	for _, o := range m.all {
		if o.ID == id {
			return o, nil
		}
	}
	return memory.Observation{}, fail.Errorf(fail.NotFound, "there is no observation %d", id)
}

func (m *shelf) Add(_ context.Context, handle agent.Handle, content agent.SessionID, o memory.Observation) (memory.Observation, error) {
	if err := o.Validate(); err != nil {
		return o, err
	}
	o.ID, o.Handle, o.ContentID = int64(len(m.all)+1), handle, content
	m.all = append(m.all, o)
	return o, nil
}

func (m *shelf) Forget(ctx context.Context, id int64) error {
	if _, err := m.Get(ctx, id); err != nil {
		return err
	}
	m.all = slices.DeleteFunc(m.all, func(o memory.Observation) bool { return o.ID == id })
	return nil
}

func (m *shelf) ForgetHandle(_ context.Context, handle agent.Handle) ([]memory.Observed, int, error) {
	before := len(m.all)
	m.all = slices.DeleteFunc(m.all, func(o memory.Observation) bool { return o.Handle == handle })
	return make([]memory.Observed, 1), before - len(m.all), nil
}

func (m *shelf) Status(context.Context) ([]memory.StatusOf, error)       { return m.status, nil }
func (m *shelf) Check(context.Context) ([]string, error)                 { return m.faults, nil }
func (m *shelf) Spend(context.Context, string, int) (int, error)         { return 1234, nil }
func (m *shelf) Backup(_ context.Context, path string) error             { return os.WriteFile(path, nil, 0o600) }
func (m *shelf) Import(_ context.Context, r io.Reader) (int, int, error) { return lines(r), 1, nil }

func lines(r io.Reader) int {
	text, _ := io.ReadAll(r)
	return strings.Count(string(text), "\n")
}

func (m *shelf) Export(_ context.Context, w io.Writer) (int, error) {
	for range m.all {
		if _, err := io.WriteString(w, "{}\n"); err != nil {
			return 0, err
		}
	}
	return len(m.all), nil
}

// memoryOf is the program with what is remembered of a project.
type memoryOf struct {
	shelf

	project string
	work    ObserveOptions
	held    error // why it is not opened
}

// remembers makes a project with agents, of which something is remembered.
func remembers(t *testing.T, records ...agent.Record) *memoryOf {
	t.Helper()
	rig.Must(t, besideTest())
	m := &memoryOf{project: newProject(t, records...)}
	rig.Must(t, os.WriteFile(filepath.Join(m.project, ".nbs/memory.db"), nil, 0o600))
	at := time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)
	m.all = []memory.Observation{
		{ID: 2, Handle: "alpha", ContentID: sessionID, MemoryID: "m", Turn: 3, Type: memory.OpenEnd, Title: "The hinge squeaks\x1b[2J", Narrative: "It wants oil.\nSoon.", Files: []string{"hinge.go"}, At: at},
		{ID: 1, Handle: "beta", ContentID: sessionID, Type: memory.Decision, Title: "Oak", At: at},
	}
	return m
}

// besideTest is a program that is never run, where that of the services looks for its own.
var besideTest = sync.OnceValue(func() error {
	this, err := os.Executable()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(this), "nbs-worker"), []byte("#!/bin/sh\nexit 99\n"), 0o700)
})

func (m *memoryOf) run(args ...string) ran { return m.runOn(Streams{}, args...) }

func (m *memoryOf) runOn(streams Streams, args ...string) ran {
	var out, complaint bytes.Buffer
	streams.In, streams.Out, streams.Err = cmp.Or[io.Reader](streams.In, strings.NewReader("")), &out, &complaint
	services := &Services{
		OpenMemory: func(context.Context, *store.Store, bool) (memory.Store, error) { return m, m.held },
		Observe: func(_ context.Context, _ *supervisor.Supervisor, o ObserveOptions) error {
			m.work = o
			return nil
		},
	}
	code := Main(append([]string{"memory", "--root", m.project}, args...), streams, services)
	return ran{code: code, out: out.String(), err: complaint.String()}
}

func TestMemoryIsRead(t *testing.T) {
	t.Parallel()
	m := remembers(t)
	want := "2\t2026-02-20T11:44:07Z\talpha\topen_end\tThe hinge squeaks?[2J\n1\t2026-02-20T11:44:07Z\tbeta\tdecision\tOak\n"
	rig.Equal(t, m.run("list", "--handle", "alpha", "-n", "5").want(t, 0).out, want, "list")
	rig.Check(t, m.asked.Handle == "alpha" && m.asked.Limit == 5 && m.asked.Text == "", "%+v", m.asked)
	rig.Equal(t, m.run("search", "oil", "hinge", "--since", "2h").want(t, 0).out, want, "search")
	rig.Check(t, m.asked.Text == "oil hinge" && !m.asked.Since.IsZero(), "%+v", m.asked)
	shown := m.run("show", "2").want(t, 0).out
	for _, part := range []string{"title      The hinge squeaks?[2J\n", "text       It wants oil.\n", "file       hinge.go\n", "in         " + string(sessionID) + ", turn 3\n"} {
		rig.Check(t, strings.Contains(shown, part), "show does not hold %q:\n%s", part, shown)
	}
	var all []wire.Observation
	rig.Must(t, json.Unmarshal([]byte(m.run("list", "--json").want(t, 0).out), &all))
	rig.Check(t, len(all) == 2 && all[0].Narrative == "It wants oil.\nSoon." && all[1].Files != nil, "%+v", all)
	rig.Equal(t, m.closed, 4, "databases that were closed")
}

func TestMemoryRefuses(t *testing.T) {
	t.Parallel()
	m := remembers(t, record("alpha"))
	m.run().want(t, fail.BadInput, "memory: on, off, list")
	m.run("lost").want(t, fail.BadInput, `unknown command "lost"`)
	m.run("show", "x").want(t, fail.BadInput, `memory show: "x" is not the id of an observation`)
	m.run("show", "9").want(t, fail.NotFound, "memory show: there is no observation 9")
	m.run("search").want(t, fail.BadInput, "a word is needed", "memory list")
	m.run("list", "--last", "0").want(t, fail.BadInput, "--last 0")
	m.run("list", "--since", "soon").want(t, fail.BadInput, `--since: "soon" is neither`)
	m.run("add", "alpha", "x", "--type", "opinion").want(t, fail.BadInput, `type "opinion" is not one of decision, fix`)
	m.run("add", "gamma", "x").want(t, fail.NotFound, "memory add")
	m.run("forget", "--handle", "alpha").want(t, fail.BadInput, "nobody was asked", "memory forget --handle alpha --yes")
	m.run("forget", "1", "--handle", "alpha").want(t, fail.BadInput, "exclude each other")
	m.run("work", "--tokens-per-day", "0").want(t, fail.BadInput, "--tokens-per-day")
	m.run("work", "--once", "--handle", "nobody").want(t, fail.NotFound, "memory work: ", "nobody")
	m.run("import", m.project).want(t, fail.BadInput, `memory import: "`+m.project+`" is a folder`)
	for _, verb := range []string{"import", "export", "backup"} {
		m.run(verb, "").want(t, fail.BadInput, "memory "+verb+": the name of the file is empty", "memory "+verb+" --help")
	}
	m.run("backup").want(t, fail.BadInput, "one file is needed, 0 given", "memory backup --help")
	rig.Must(t, os.Remove(filepath.Join(m.project, ".nbs/memory.db")))
	rig.Equal(t, m.run("list", "--json").want(t, 0).out, "[]\n", "a list of nothing")
	rig.Equal(t, m.run("search", "x", "--json").want(t, 0).out, "[]\n", "nothing is found")
	m.run("show", "1").want(t, fail.NotFound, "nothing was ever remembered in this project", "memory on HANDLE")
	m.run("work", "--once").want(t, fail.NotFound, "the memory of no agent is on", "memory on HANDLE")
	rig.Check(t, strings.Contains(m.run("status", "--json").want(t, 0).out, `"on":[`), "status where nothing was remembered yet")
}

func TestMemoryIsSwitched(t *testing.T) {
	t.Parallel()
	m := remembers(t, record("alpha"), record("beta"))
	for _, c := range []struct{ verb, said string }{{"on", "memory is on, was off"}, {"on", "nothing changed"}, {"off", "memory is off, was on"}} {
		out := m.runOn(Streams{OutTTY: true}, c.verb, "alpha").want(t, 0).out
		rig.Check(t, strings.Contains(out, c.said), "%s: %q", c.verb, out)
	}
	rig.Equal(t, m.run("on", "alpha", "beta").want(t, 0).out, "alpha\nbeta\n", "on, in a pipe")
	m.run("on", "alpha", "gamma").want(t, fail.Partial, "gamma")
	m.status = []memory.StatusOf{{Observed: memory.Observed{Handle: "alpha", ContentID: sessionID, MemoryID: "m"}, Observations: 7, Problem: "overloaded"}}
	rig.Equal(t, m.run("status").want(t, 0).out, "alpha\t"+string(sessionID)+"\tcaptured\t7\t-\toverloaded\n", "status")
	var status wire.MemoryStatus
	rig.Must(t, json.Unmarshal([]byte(m.run("status", "--json").want(t, 0).out), &status))
	rig.Check(t, slices.Equal(status.On, []agent.Handle{"alpha", "beta"}) && status.TokensToday == 1234 && status.Conversations[0].Problem == "overloaded", "%+v", status)
}

func TestMemoryIsChangedByHand(t *testing.T) {
	t.Parallel()
	m := remembers(t, record("alpha"))
	rig.Equal(t, m.runOn(Streams{In: strings.NewReader("Iron rusts.\n")}, "add", "alpha", "The gate is of oak", "--type", "decision", "--text-file", "-", "--file", "gate.go").want(t, 0).out, "3\n", "add")
	rig.Check(t, m.all[2].Type == memory.Decision && m.all[2].ContentID == sessionID && m.all[2].Files[0] == "gate.go" && m.all[2].Narrative == "Iron rusts.", "%+v", m.all[2])
	m.run("forget", "1", "9").want(t, fail.NotFound, "no observation 9")
	var gone wire.Forgotten
	rig.Must(t, json.Unmarshal([]byte(m.run("forget", "--handle", "alpha", "--yes", "--json").want(t, 0).out), &gone))
	rig.Check(t, gone == wire.Forgotten{Handle: "alpha", Conversations: 1, Observations: 2} && len(m.all) == 0, "%+v, %+v", gone, m.all)
}

// What an observer would continue must not be an agent's own conversation, its present one or an earlier one.
func TestMemoryCheckFindsAnAgentTakenForAnObserver(t *testing.T) {
	t.Parallel()
	const earlier, other = "11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555"
	r := record("alpha")
	r.PreviousSessions = []agent.PreviousSession{{SessionID: earlier}}
	m := remembers(t, r)
	m.status = []memory.StatusOf{{Observed: memory.Observed{ContentID: other}}, {Observed: memory.Observed{ContentID: sessionID, MemoryID: other}}}
	rig.Equal(t, m.run("check").want(t, 0).out, "", "check")
	for _, id := range []agent.SessionID{sessionID, earlier} {
		m.status[0].MemoryID = id
		rig.Equal(t, m.run("check").want(t, fail.Failed, "1 fault found", "mkdir ").out, "conversation "+string(id)+" of alpha is kept as the observer of "+other+"\n", "check")
	}
}

func TestMemoryIsWrittenOutAndTakenOver(t *testing.T) {
	t.Parallel()
	m := remembers(t, record("alpha"))
	file, copied := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "copy")
	rig.Equal(t, m.run("export").want(t, 0).out, "{}\n{}\n", "export")
	rig.Equal(t, m.run("export", "-").want(t, 0).out, "{}\n{}\n", "export -")
	rig.Equal(t, m.run("export", file).want(t, 0).out, "", "export into a file")
	m.run("export", file).want(t, fail.Conflict, "there is a file")
	rig.Equal(t, m.run("import", file, "--json").want(t, 0).out, `{"observations":2,"skipped":1}`+"\n", "import")
	m.run("import", file+".gone").want(t, fail.NotFound)
	rig.Equal(t, m.run("backup", copied, "--json").want(t, 0).out, `{"path":"`+copied+`","observations":0}`+"\n", "backup")
	rig.Equal(t, m.run("check").want(t, 0).out, "", "check")
	m.faults = []string{"observation 3 belongs to nobody"}
	rig.Equal(t, m.run("check").want(t, fail.Failed, "1 fault found", "memory import").out, "observation 3 belongs to nobody\n", "check")
	m.run("work", "--once", "--handle", "alpha", "--model", "sonnet").want(t, 0)
	rig.Check(t, m.work.Once && m.work.Handle == "alpha" && m.work.Model == "sonnet" && m.work.PerDay == 500_000, "%+v", m.work)
}

// What a successor is told needs neither a transcript nor a memory.
func TestMemoryBrief(t *testing.T) {
	t.Parallel()
	m := remembers(t, record("alpha"))
	out := m.run("brief", "alpha", "--why", "full").want(t, 0).out
	for _, part := range []string{"Notes for agent alpha, ", string(sessionID) + ", was given up (full).", "There is no transcript of it.", "\n> 2, 2026-02-20, open end: The hinge squeaks?[2J: It wants oil. Soon. (hinge.go)\n"} {
		rig.Check(t, strings.Contains(out, part), "brief does not hold %q:\n%s", part, out)
	}
	rig.Check(t, m.asked.Handle == "alpha", "%+v", m.asked)
	m.run("brief", "alpha", "--session-id", "11111111-2222-4333-8444-555555555555").want(t, fail.NotFound, "was never in the conversation")
	m.run("brief", "alpha", "--tokens", "299").want(t, fail.BadInput, "--tokens 299: it must be 300 or more", "memory brief alpha --tokens 300")
	m.run("brief", "alpha", "--tokens", "many").want(t, fail.BadInput, "many")
	short := m.run("brief", "alpha", "--tokens", "300", "--why", strings.Repeat("full ", 100)).want(t, 0).out
	rig.Check(t, len(short) > 800 && len(short) <= 900, "%d bytes: %s", len(short), short)
	rig.Must(t, os.Remove(filepath.Join(m.project, ".nbs/memory.db")))
	out = m.run("brief", "alpha").want(t, 0).out
	rig.Check(t, strings.HasPrefix(out, "Notes for agent alpha, ") && !strings.Contains(out, "hinge"), "%s", out)
}

// What is remembered but not allowed is refused by each verb that reads it, with the exit code that its help names.
func TestMemoryThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	m := remembers(t, record("alpha"))
	m.held = fail.Errorf(fail.Held, "it is not allowed")
	for _, args := range [][]string{
		{"list"}, {"search", "x"}, {"show", "1"}, {"forget", "1"}, {"add", "alpha", "x"}, {"status"}, {"check"}, {"brief", "alpha"},
		{"on", "alpha"}, {"export"}, {"import", "-"}, {"backup", "x"},
	} {
		m.run(args...).want(t, fail.Held, "it is not allowed")
		help := m.run(args[0], "--help").want(t, 0).out
		rig.Check(t, strings.Contains(help, "    8  held"), "the help of %s names no code 8:\n%s", args[0], help)
	}
}
