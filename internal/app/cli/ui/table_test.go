package ui

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
)

func TestTableFitsEightyColumns(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	f := &Factory{Streams: Streams{Out: &out, OutTTY: true, Width: 80}}
	table := f.NewTable("HANDLE", "VERDICT", "LEVEL", "EVIDENCE", "COMMAND")
	table.Under = 2
	command := "nbs-worker --root /home/somebody/src/a-project-with-a-long-name/and/a/folder/of/it resume alpha"
	table.Row(Text("alpha"), Text("dead"), Text("3"), Text(strings.Repeat("killed by the kernel ", 9)), Text(command))
	rig.Must(t, table.Flush())
	uitest.MustFit(t, out.String(), "\n    command:\n    "+command+"\n", "\n    evidence: killed")
}

// Nine columns do not fit eighty at a readable width: the last ones stand below their row, as many as need it. A state is
// not cut.
func TestTableThatIsTooWideForItsColumns(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	f := &Factory{Streams: Streams{Out: &out, OutTTY: true, Width: 80}}
	table := f.NewTable("HANDLE", "STATE", "NEEDS", "MODEL", "SINCE", "CONTEXT", "COST", "MODE", "WHAT")
	waiting := State(agent.Status{State: agent.Waiting, Detail: "permission prompt"})
	table.Row(Text("theologian"), waiting, Text("waits"), Text("opus-5-5"), Text("21s"), Text("99% left"), Text("$0.11"), Text("bypassPermissions"), Text("Bash: touch released"))
	table.Row(Text("builder"), Text("idle"), Text(""), Text("opus-5-5"), Text("21s"), Text("99% left"), Text("$0.11"), Text("default"), Text(""))
	rig.Must(t, table.Flush())
	want := "" +
		"HANDLE      STATE                       NEEDS  MODEL     SINCE  CONTEXT   COST\n" +
		"theologian  waiting: permission prompt  waits  opus-5-5  21s    99% left  $0.11\n" +
		"    mode: bypassPermissions  what: Bash: touch released\n" +
		"builder     idle                        -      opus-5-5  21s    99% left  $0.11\n" +
		"    mode: default\n"
	rig.Equal(t, out.String(), want, "the table")
}

// twoRows prints a table with two rows on streams of a kind.
func twoRows(streams Streams) string {
	var out bytes.Buffer
	streams.Out = &out
	f := &Factory{Streams: streams}
	t := f.NewTable("HANDLE", "STATE", "STARTED")
	t.Now = time.Date(2026, 2, 20, 15, 0, 0, 0, time.UTC)
	at := time.Date(2026, 2, 20, 13, 0, 0, 0, time.FixedZone("CET", 3600))
	t.Row(Text("a"), State(agent.Status{State: agent.Idle}), t.Time(at))
	t.Row(Text("longer\tname\n\x1b]0;x\x07"), State(agent.Status{State: agent.Dead, Cause: agent.Crashed}), t.Time(time.Time{}))
	if err := t.Flush(); err != nil {
		panic(err)
	}
	return out.String()
}

func TestTableInAPipe(t *testing.T) {
	t.Parallel()
	want := "a\tidle\t2026-02-20T12:00:00Z\nlonger name ?]0;x?\tcrashed\t-\n"
	got := twoRows(Streams{})
	rig.Check(t, got == want, "it is\n%q; want\n%q", got, want)
}

func TestTableOnATerminal(t *testing.T) {
	t.Parallel()
	want := "" +
		"HANDLE              STATE    STARTED\n" +
		"a                   idle     3 hours ago\n" +
		"longer name ?]0;x?  crashed  -\n"
	got := twoRows(Streams{OutTTY: true})
	rig.Check(t, got == want, "it is\n%s; want\n%s", got, want)
}

func TestColoursDoNotMoveTheColumns(t *testing.T) {
	t.Parallel()
	coloured := twoRows(Streams{OutTTY: true, Color: true})
	if !strings.Contains(coloured, "\x1b[32midle\x1b[0m") || !strings.Contains(coloured, "\x1b[31mcrashed\x1b[0m") {
		t.Errorf("idle is not green, or crashed not red: %q", coloured)
	}
	bare := regexp.MustCompile(`\x1b\[[0-9]*m`).ReplaceAllString(coloured, "")
	want := twoRows(Streams{OutTTY: true})
	rig.Check(t, bare == want, "without colours it is\n%s; want\n%s", bare, want)
}

func TestStateColours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status agent.Status
		want   string
	}{
		{agent.Status{State: agent.Idle}, "32"},
		{agent.Status{State: agent.Busy}, "32"},
		{agent.Status{State: agent.Waiting}, "33"},
		{agent.Status{State: agent.Starting}, "33"},
		{agent.Status{State: agent.Unknown}, "33"},
		{agent.Status{State: agent.Dead, Cause: agent.Crashed}, "31"},
		{agent.Status{State: agent.Dead, Cause: agent.LostReboot}, "31"},
		{agent.Status{State: agent.Dead, Cause: agent.LostTmux}, "31"},
		{agent.Status{State: agent.Dead, Cause: agent.Stopped}, Plain},
		{agent.Status{State: agent.Dead, Cause: agent.Exited}, Plain},
	} {
		if got := State(c.status).Colour; got != c.want {
			t.Errorf("%s: colour %s; want %s", c.status.Word(), got, c.want)
		}
	}
}

// The pid of an agent that does not run is anybody's.
func TestPidOfTheDeadIsNotShown(t *testing.T) {
	t.Parallel()
	got := PID(12345, agent.Status{State: agent.Dead}).Text
	rig.Check(t, got == "-", "the pid of a dead one is %s", got)
	got = PID(12345, agent.Status{State: agent.Idle, SamePID: true}).Text
	rig.Check(t, got == "12345", "the pid of a live one is %s", got)
}

func TestTableThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{true, false} {
		f := &Factory{Streams: Streams{Out: uitest.Full{}, OutTTY: terminal}}
		table := f.NewTable("A")
		table.Row(Text("x"))
		err := table.Flush()
		rig.Check(t, err != nil, "on a terminal %t: no error", terminal)
	}
}

// A table without a header, such as that of wait, has no line for it.
func TestTableWithoutAHeader(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	f := &Factory{Streams: Streams{Out: &out, OutTTY: true, Width: 80}}
	table := f.NewTable()
	table.Row(Text("alpha"), Text("idle"))
	rig.Must(t, table.Flush())
	rig.Equal(t, out.String(), "alpha  idle\n", "the table")
}
