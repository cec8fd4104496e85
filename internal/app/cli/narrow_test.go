package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/team/doctor"
	"nbs-worker/internal/team/inspect"
)

// mustFit checks that a terminal of 80 columns shows a text as it is. A command is not broken: it is to be pasted.
func mustFit(t *testing.T, text string, holds ...string) {
	t.Helper()
	for line := range strings.Lines(text) {
		isCommand := strings.HasPrefix(strings.TrimSpace(line), "nbs-worker ") || strings.HasPrefix(strings.TrimSpace(line), "command: nbs-worker ")
		rig.Check(t, isCommand || columns(strings.TrimRight(line, "\n")) <= 80, "a line has %d columns: %s\nof\n%s", columns(line), line, text)
	}
	for _, want := range holds {
		rig.Check(t, strings.Contains(text, want), "it does not hold %q:\n%s", want, text)
	}
}

// narrow is a terminal of 80 columns.
func narrow(out *strings.Builder) *factory {
	return &factory{streams: Streams{Out: out, OutTTY: true, Width: 80}}
}

// What is shown on a terminal of 80 columns fits it, and nothing that is to be copied is cut.
func TestTablesFitEightyColumns(t *testing.T) {
	t.Parallel()
	folder := "/home/somebody/src/a-project-with-a-long-name/and/a/folder/of/it/that/is/deep"
	row := rowOf(record("an-agent-with-a-long-name"))
	row.Record.Cwd, row.Status = folder, agent.Status{State: agent.Waiting, Detail: "permission prompt", SamePID: true}
	row.Record.PID = 123456
	var out strings.Builder
	rig.Must(t, narrow(&out).printList([]inspect.Row{row}, &listOptions{wide: true, usage: true}, agent.Bands{}))
	mustFit(t, out.String(), "    pid: 123456  session: "+string(sessionID)+"\n", "    folder:\n    /home/somebody/src/a-project-with-a-long-name/and/a/folder/of/it/that/is/\n")

	out.Reset()
	at := time.Now().Add(-3 * time.Minute)
	rig.Must(t, narrow(&out).printKept([]wire.Kept{{Handle: "alpha", ID: "3f2a", State: "waiting", Allowed: true, Created: &at, Reason: strings.Repeat("it is busy ", 20), Text: "read chapter two again"}}))
	mustFit(t, out.String(), "3 minutes ago", "\n    reason: it is busy", "\n    text: read chapter two again\n")

	out.Reset()
	f := narrow(&out)
	table := f.newTable("HANDLE", "VERDICT", "LEVEL", "EVIDENCE", "COMMAND")
	table.under = 2
	command := "nbs-worker --root " + folder + " resume alpha"
	table.row(text("alpha"), text("dead"), text("3"), text(strings.Repeat("killed by the kernel ", 9)), text(command))
	rig.Must(t, table.flush())
	mustFit(t, out.String(), "\n    command:\n    "+command+"\n", "\n    evidence: killed")

	out.Reset()
	for _, e := range []journal.Event{
		{At: at, Event: "start", Handle: "alpha", PID: 1234567, SessionID: sessionID, Detail: strings.Repeat("a detail of what was done ", 6)}, {At: at, Event: "pause"},
	} {
		rig.Must(t, narrow(&out).printEvent(e))
	}
	mustFit(t, out.String(), "pid 1234567, session "+string(sessionID)+"\n", "  start     alpha  a detail")
}

func TestListsFitEightyColumns(t *testing.T) {
	t.Parallel()
	project := newProject(t, record("alpha"))
	writeSchedules(t, project, "zone: Europe/Berlin\nschedules:\n  the-morning-of-everybody:\n    cron: 30 7 * * 1-5\n    send: {to: alpha, text: x}\n")
	r := runOn(Streams{OutTTY: true, Width: 80}, "--root", project, "schedule", "list").want(t, 0)
	mustFit(t, r.out, "the-morning-of-everybody  30 7 * * 1-5 Europe/Berlin\n    what: message to alpha  next: ")
	rig.Check(t, !strings.Contains(r.out, "…"), "something is cut:\n%s", r.out)

	var out strings.Builder
	long := strings.Repeat("a long title ", 6)
	rig.Must(t, narrow(&out).showObservations([]memory.Observation{{ID: 1, At: time.Now(), Handle: "alpha", Type: "decision", Title: long}}))
	mustFit(t, out.String(), "\n    title: a long title")

	out.Reset()
	at := time.Now()
	sending := wire.Kept{Handle: "alpha", ID: "3f2a", State: "sending", Allowed: true, Created: &at, Reason: "the agent does not run: crashed", Text: "hi"}
	rig.Must(t, narrow(&out).printKept([]wire.Kept{sending}))
	rig.Check(t, !strings.Contains(out.String(), "crashed"), "what is on its way has the reason of an earlier try:\n%s", out.String())
}

func TestDoctorFitsEightyColumns(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	fix := "chmod -R go= '/srv/" + strings.Repeat("a folder/", 12) + ".nbs'"
	narrow(&out).writeFinding(&out, doctor.Finding{Level: doctor.Note, What: strings.Repeat("this machine is very busy ", 5), Why: strings.Repeat("starts take long ", 8) + "\nin two lines", Fix: []string{fix}})
	text, command, _ := strings.Cut(out.String(), "           fix: ")
	mustFit(t, text, "\n           starts take long", "\n  in two lines\n")
	rig.Equal(t, command, fix+"\n", "the command to paste")
}

func TestSessionFitsEightyColumns(t *testing.T) {
	t.Parallel()
	alpha := record("alpha")
	alpha.Cwd, alpha.Desired = "/srv/"+strings.Repeat("long/", 30), agent.DesiredRunning
	alpha.Exits = []agent.Exit{{At: time.Now(), Code: 1, UptimeS: 9, LastScreen: strings.Repeat("─", 120) + "\n> words\n" + strings.Repeat("─", 120)}}
	project := newProject(t, alpha)
	deep := filepath.Join(project, strings.Repeat("deep/", 14))
	rig.Must(t, os.MkdirAll(deep, 0o700))
	r := runOn(Streams{OutTTY: true, Width: 80}, "--root", project, "session", "alpha").want(t, 0)
	mustFit(t, r.out, "\n                 nbs-worker --root "+project+" resume alpha\n", "────…\n", "> words")
	wide := runOn(Streams{OutTTY: true}, "--root", project, "session", "alpha").want(t, 0)
	rig.Check(t, strings.Contains(wide.out, strings.Repeat("─", 120)) && strings.Contains(wide.out, alpha.Cwd+"\n"), "of unknown width:\n%s", wide.out)
}

func TestWrapped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 8, "one two|three"},
		{"/a/bcd/efgh", 8, "/a/bcd/|efgh"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"a  b", 10, "a  b"},
		{"", 10, ""},
	} {
		rig.Equal(t, strings.Join(wrapped(c.text, c.width), "|"), c.want, "%q in %d", c.text, c.width)
	}
}
