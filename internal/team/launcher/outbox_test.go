package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/queue"
)

// A deliverer is run for what waits, once an occasion: its own end signals the launcher too.
func TestDelivererIsRunOnceAnOccasion(t *testing.T) {
	t.Parallel()
	s := newProject(t)
	calls := filepath.Join(t.TempDir(), "calls")
	program := filepath.Join(t.TempDir(), "nbs-worker")
	rig.WriteProgram(t, program, "#!/bin/sh\necho \"$* $MARK $NBS_HANDLE\" >>"+calls+"\n")
	l := &Launcher{Machine: local.New(), Store: s, Program: program, Now: time.Now}
	config, err := claude.ConfigAt(t.TempDir())
	rig.Must(t, err)
	waits := l.outboxFor("alpha", store.Launch{Env: []string{"MARK=of-the-caller", "NBS_HANDLE=caller"}}, config.Registry())
	byClock := false
	seen := func(want int) {
		t.Helper()
		rig.Eventually(t, "the last deliverer to end", func() bool { return !waits.runs.Load() })
		there := waits.look(t.Context(), byClock)
		rig.Check(t, there == (want > 0), "after %d deliverers, something waits: %t", want, there)
		waits.look(t.Context(), false)
		rig.Eventually(t, "the deliverers", func() bool {
			data, _ := os.ReadFile(calls)
			return strings.Count(string(data), "outbox deliver alpha --root "+s.Project()+" of-the-caller \n") == want && strings.Count(string(data), "\n") == want
		})
	}
	seen(0)
	add := func(state queue.State) {
		t.Helper()
		_, err := s.Outbox("alpha").Add(t.Context(), queue.Entry{Text: "x", State: state})
		rig.Must(t, err)
	}
	add(queue.Unknown)
	seen(0)
	add(queue.Waiting)
	seen(1)
	add(queue.Waiting)
	seen(2)
	idle := func(at int) {
		rig.Must(t, s.UpdateReport(t.Context(), "alpha", func(r *agent.Report) {
			r.Activity = &agent.Activity{State: agent.Idle, At: time.Unix(int64(at), 0).UTC()}
		}))
	}
	idle(1)
	seen(3)
	idle(2)
	seen(4)
	byClock = true // while something waits, it is looked at by the clock
	seen(5)
	id, err := local.New().Self()
	rig.Must(t, err)
	_, err = s.Update(t.Context(), "alpha", func(r *agent.Record) error { r.Process.Identity = id; return nil })
	rig.Must(t, err)
	rig.Must(t, os.MkdirAll(config.Registry().Dir(), 0o700))
	registered := func(status string) {
		t.Helper()
		entry := fmt.Sprintf(`{"pid":%d,"sessionId":"%s","procStart":"%d","status":%q}`, id.PID, agent.NewSessionID(), id.StartTicks, status)
		rig.Must(t, os.WriteFile(config.Registry().Path(id.PID), []byte(entry), 0o600))
	}
	registered("waiting")
	seen(5)
	registered("idle")
	seen(6)
}
