package agents

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
)

// printed is what list prints of the rows.
func printed(t *testing.T, streams ui.Streams, rows ...inspect.Row) string {
	t.Helper()
	var out bytes.Buffer
	streams.Out, streams.Err = &out, &bytes.Buffer{}
	f := &ui.Factory{Streams: streams}
	rig.Must(t, printList(f, rows, &listOptions{}, &attention.Judge{Bands: agent.DefaultBands, Now: time.Now()}))
	return out.String()
}

func TestListShowsContextAndCost(t *testing.T) {
	t.Parallel()
	row := rowOf(uitest.Record("alpha"))
	row.Context = &agent.ContextUse{UsedPercent: 88, Source: agent.SaysStatusLine}
	row.Cost = &agent.Cost{USD: 12.345, Source: agent.SaysStatusLine}
	out := printed(t, ui.Streams{}, row)
	rig.Check(t, strings.Contains(out, "\t12\t12.3"), "in a pipe: %q", out)
	out = printed(t, ui.Streams{OutTTY: true, Color: true}, row)
	rig.Check(t, strings.Contains(out, "\x1b[31m12% left\x1b[0m") && strings.Contains(out, "$12.3"), "on a terminal: %q", out)
}

func TestSessionSaysWhereTheContextIsKnownFrom(t *testing.T) {
	t.Parallel()
	view := fullView()
	view.Context.Source, view.Context.At = agent.SaysTranscript, time.Time{}
	view.Cost.Source = agent.SaysTranscript
	out, _ := shown(t, view)
	for _, want := range []string{
		"\nContext:         about 16% used, 84% left (healthy): 32,077 of 200,000 tokens; from the transcript\n",
		"\nCost:            $0.86 when Claude last wrote it; from the transcript\n",
	} {
		rig.Check(t, strings.Contains(out, want), "stdout does not hold %q:\n%s", want, out)
	}
}
