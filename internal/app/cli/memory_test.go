package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/memory/db"
	"nbs-worker/internal/sim/rig"
)

const (
	otherID  = agent.SessionID("22222222-2222-4333-8444-555555555555")
	anExport = `{"format":"nbs-worker-memory","version":1}
{"conversation":{"content_id":"22222222-2222-4333-8444-555555555555","handle":"beta","created":"2026-02-20T11:00:00Z"}}
{"conversation":{"content_id":"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11","handle":"alpha","created":"2026-02-20T11:00:01Z"}}
{"observation":{"content_id":"22222222-2222-4333-8444-555555555555","type":"decision","title":"Oak","at":"2026-02-20T11:44:07Z"}}
{"observation":{"content_id":"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11","turn":3,"type":"open_end","title":"The hinge squeaks","narrative":"It wants oil.\nSoon.","files":["hinge.go"],"at":"2026-02-20T11:44:08Z"}}
`
)

// memoryOf is the program in a project with a memory.
type memoryOf struct{ project string }

// remembers makes a project with agents, and remembers something of them.
func remembers(t *testing.T, records ...agent.Record) *memoryOf {
	t.Helper()
	m := &memoryOf{project: newProject(t, records...)}
	m.runOn(ui.Streams{In: strings.NewReader(anExport)}, "import", "-").want(t, 0)
	return m
}

func (m *memoryOf) run(args ...string) ran { return m.runOn(ui.Streams{}, args...) }

func (m *memoryOf) runOn(streams ui.Streams, args ...string) ran {
	return runOn(streams, append([]string{"memory", "--root", m.project}, args...)...)
}

// file is the database.
func (m *memoryOf) file() string { return filepath.Join(m.project, ".nbs/memory.db") }

// remove removes the memory.
func (m *memoryOf) remove(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(m.file() + "*")
	rig.Must(t, err)
	for _, file := range files {
		rig.Must(t, os.Remove(file))
	}
}

// with opens the database behind the program's back.
func (m *memoryOf) with(t *testing.T, do func(memory.Store) error) {
	t.Helper()
	d, err := db.Open(t.Context(), m.file())
	rig.Must(t, err)
	rig.Must(t, do(d))
	rig.Must(t, d.Close())
}

func TestMemoryIsRead(t *testing.T) {
	t.Parallel()
	m := remembers(t)
	const hinge, oak = "2\t2026-02-20T11:44:08Z\talpha\topen_end\tThe hinge squeaks\n", "1\t2026-02-20T11:44:07Z\tbeta\tdecision\tOak\n"
	for _, c := range []struct{ line, want string }{
		{"list", hinge + oak}, {"list -n 1", hinge}, {"list --handle beta", oak}, {"list --since 2h", ""},
		{"search oil hinge", hinge}, {"search oil oak", ""}, {"search oak --handle alpha", ""}, {"search oak --since 2026-02-20T00:00:00Z", oak},
	} {
		rig.Equal(t, m.run(strings.Fields(c.line)...).want(t, 0).out, c.want, "%s", c.line)
	}
	shown := m.run("show", "2").want(t, 0).out
	for _, part := range []string{"title      The hinge squeaks\n", "text       It wants oil.\n", "file       hinge.go\n", "in         " + string(uitest.SessionID) + ", turn 3\n"} {
		rig.Check(t, strings.Contains(shown, part), "show does not hold %q:\n%s", part, shown)
	}
	var all []wire.Observation
	rig.Must(t, json.Unmarshal([]byte(m.run("list", "--json").want(t, 0).out), &all))
	rig.Check(t, len(all) == 2 && all[0].Narrative == "It wants oil.\nSoon." && all[1].Files != nil, "%+v", all)
}

func TestMemoryRefuses(t *testing.T) {
	t.Parallel()
	m := remembers(t, uitest.Record("alpha"))
	m.run().want(t, fail.BadInput, "memory: on, off, list")
	m.run("lost").want(t, fail.BadInput, `unknown command "lost"`)
	m.run("show", "x").want(t, fail.BadInput, `memory show: "x" is not the id of an observation`)
	m.run("show", "9").want(t, fail.NotFound, "memory show: there is no observation 9")
	m.run("search").want(t, fail.BadInput, "a word is needed", "memory list")
	m.run("list", "--last", "0").want(t, fail.BadInput, "--last 0")
	m.run("list", "--since", "soon").want(t, fail.BadInput, `--since: "soon" is not a duration`)
	m.run("add", "alpha", "x", "--type", "opinion").want(t, fail.BadInput, `type "opinion" is not one of decision, fix`)
	m.run("add", "gamma", "x").want(t, fail.NotFound, "memory add")
	m.run("forget", "--handle", "alpha").want(t, fail.BadInput, "confirm with --yes", "memory forget --handle alpha --yes")
	m.run("forget", "1", "--handle", "alpha").want(t, fail.BadInput, "exclude each other")
	m.run("work", "--tokens-per-day", "0").want(t, fail.BadInput, "--tokens-per-day")
	m.run("work", "--once", "--handle", "nobody").want(t, fail.NotFound, "memory work: ", "nobody")
	m.run("import", m.project).want(t, fail.BadInput, `memory import: "`+m.project+`" is a folder`)
	for _, verb := range []string{"import", "export", "backup"} {
		m.run(verb, "").want(t, fail.BadInput, "memory "+verb+": the name of the file is empty", "memory "+verb+" --help")
	}
	m.run("backup").want(t, fail.BadInput, "one file is needed, 0 given", "memory backup --help")
	m.remove(t)
	rig.Equal(t, m.run("list", "--json").want(t, 0).out, "[]\n", "a list of nothing")
	rig.Equal(t, m.run("search", "x", "--json").want(t, 0).out, "[]\n", "nothing is found")
	m.run("show", "1").want(t, fail.NotFound, "this project has no memory yet", "memory on HANDLE")
	m.run("work", "--once").want(t, fail.NotFound, "no agent has its memory on", "memory on HANDLE")
	rig.Check(t, strings.Contains(m.run("status", "--json").want(t, 0).out, `"on":[`), "status where nothing was remembered yet")
}

func TestMemoryIsSwitched(t *testing.T) {
	t.Parallel()
	m := remembers(t, uitest.Record("alpha"), uitest.Record("beta"))
	for _, c := range []struct{ verb, said string }{{"on", "memory is on, was off"}, {"on", "nothing changed"}, {"off", "memory is off, was on"}} {
		out := m.runOn(ui.Streams{OutTTY: true}, c.verb, "alpha").want(t, 0).out
		rig.Check(t, strings.Contains(out, c.said), "%s: %q", c.verb, out)
	}
	rig.Equal(t, m.run("on", "alpha", "beta").want(t, 0).out, "alpha\nbeta\n", "on, in a pipe")
	m.run("on", "alpha", "gamma").want(t, fail.Partial, "gamma")
	m.with(t, func(d memory.Store) error {
		rig.Must(t, d.Trouble(t.Context(), uitest.SessionID, "overloaded"))
		_, err := d.Spend(t.Context(), time.Now().UTC().Format(time.DateOnly), 1234)
		return err
	})
	status := m.run("status").want(t, 0).out
	rig.Check(t, strings.HasSuffix(status, "alpha\t"+string(uitest.SessionID)+"\tsynthesized\t1\t2026-02-20T11:44:08Z\toverloaded\n"), "status: %s", status)
	var all wire.MemoryStatus
	rig.Must(t, json.Unmarshal([]byte(m.run("status", "--json").want(t, 0).out), &all))
	rig.Check(t, slices.Equal(all.On, []agent.Handle{"alpha", "beta"}) && all.TokensToday == 1234 && all.Conversations[1].Problem == "overloaded", "%+v", all)
}

func TestMemoryIsChangedByHand(t *testing.T) {
	t.Parallel()
	m := remembers(t, uitest.Record("alpha"))
	rig.Equal(t, m.runOn(ui.Streams{In: strings.NewReader("Iron rusts.\n")}, "add", "alpha", "The gate is of oak", "--type", "decision", "--text-file", "-", "--file", "gate.go").want(t, 0).out, "3\n", "add")
	var added []wire.Observation
	rig.Must(t, json.Unmarshal([]byte(m.run("show", "3", "--json").want(t, 0).out), &added))
	o := added[0]
	rig.Check(t, o.Type == memory.Decision && o.SessionID == uitest.SessionID && o.Files[0] == "gate.go" && o.Narrative == "Iron rusts.", "%+v", o)
	m.run("forget", "1", "9").want(t, fail.NotFound, "no observation 9")
	var gone wire.Forgotten
	rig.Must(t, json.Unmarshal([]byte(m.run("forget", "--handle", "alpha", "--yes", "--json").want(t, 0).out), &gone))
	rig.Check(t, gone == wire.Forgotten{Handle: "alpha", Conversations: 1, Observations: 2}, "%+v", gone)
	rig.Equal(t, m.run("list").want(t, 0).out, "", "list")
}

// What an observer would continue must not be an agent's own conversation, its present one or an earlier one.
func TestMemoryCheckFindsAnAgentTakenForAnObserver(t *testing.T) {
	t.Parallel()
	const earlier = "11111111-2222-4333-8444-555555555555"
	r := uitest.Record("alpha")
	r.PreviousSessions = []agent.PreviousSession{{SessionID: earlier}}
	m := remembers(t, r)
	rig.Equal(t, m.run("check").want(t, 0).out, "", "check")
	m.with(t, func(d memory.Store) error { return d.Capture(t.Context(), otherID, earlier) })
	rig.Equal(t, m.run("check").want(t, fail.Failed, "1 fault found", "mkdir ").out, "conversation "+earlier+" of alpha is kept as the observer of "+string(otherID)+"\n", "check")
}

func TestMemoryIsWrittenOutAndTakenOver(t *testing.T) {
	t.Parallel()
	m := remembers(t, uitest.Record("alpha"))
	file, copied := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "copy")
	rig.Equal(t, m.run("export").want(t, 0).out, anExport, "export")
	rig.Equal(t, m.run("export", "-").want(t, 0).out, anExport, "export -")
	rig.Equal(t, m.run("export", file).want(t, 0).out, "", "export into a file")
	m.run("export", file).want(t, fail.Conflict, "exists already")
	rig.Equal(t, m.run("import", file, "--json").want(t, 0).out, `{"observations":0,"skipped":2}`+"\n", "import")
	m.run("import", file+".gone").want(t, fail.NotFound)
	rig.Equal(t, m.run("backup", copied, "--json").want(t, 0).out, `{"path":"`+copied+`","observations":0}`+"\n", "backup")
	m.run("work", "--once", "--handle", "alpha", "--model", "sonnet").want(t, 0)
}

// What a successor is told needs neither a transcript nor a memory.
func TestMemoryBrief(t *testing.T) {
	t.Parallel()
	m := remembers(t, uitest.Record("alpha"))
	out := m.run("brief", "alpha", "--why", "full").want(t, 0).out
	for _, part := range []string{"Notes for agent alpha, ", string(uitest.SessionID) + ", was given up (full).", "There is no transcript of it.", "\n> 2, 2026-02-20, open end: The hinge squeaks: It wants oil. Soon. (hinge.go)\n"} {
		rig.Check(t, strings.Contains(out, part), "brief does not hold %q:\n%s", part, out)
	}
	rig.Check(t, !strings.Contains(out, "Oak"), "it has what was noted of another agent: %s", out)
	m.run("brief", "alpha", "--session-id", "11111111-2222-4333-8444-555555555555").want(t, fail.NotFound, "was never in the conversation")
	m.run("brief", "alpha", "--tokens", "299").want(t, fail.BadInput, "--tokens 299 must be 300 or more", "memory brief alpha --tokens 300")
	m.run("brief", "alpha", "--tokens", "many").want(t, fail.BadInput, "many")
	short := m.run("brief", "alpha", "--tokens", "300", "--why", strings.Repeat("full ", 100)).want(t, 0).out
	rig.Check(t, len(short) > 700 && len(short) <= 900, "%d bytes: %s", len(short), short)
	m.remove(t)
	out = m.run("brief", "alpha").want(t, 0).out
	rig.Check(t, strings.HasPrefix(out, "Notes for agent alpha, ") && !strings.Contains(out, "hinge"), "%s", out)
}

// What is remembered but not allowed is refused by each verb that reads it, with the exit code that its help names.
func TestMemoryThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	m := remembers(t, uitest.Record("alpha"))
	rig.Must(t, os.RemoveAll(filepath.Join(m.project, ".nbs/allowed")))
	for _, args := range [][]string{
		{"list"}, {"search", "x"}, {"show", "1"}, {"forget", "1"}, {"add", "alpha", "x"}, {"status"}, {"check"}, {"brief", "alpha"},
		{"on", "alpha"}, {"export"}, {"import", "-"}, {"backup", "x"},
	} {
		m.run(args...).want(t, fail.Held, "is not allowed: it came with the project")
		help := run("help", "memory", args[0]).want(t, 0).out
		rig.Check(t, strings.Contains(help, "    8  held"), "the help of %s names no code 8:\n%s", args[0], help)
	}
}
