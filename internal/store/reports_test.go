package store

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// Hooks of one agent run side by side: none takes away what another wrote.
func TestReportLosesNoChange(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const writers, turns = 8, 20
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range turns {
				err := s.UpdateReport(t.Context(), "Alpha", func(r *agent.Report) {
					if r.Gauge == nil {
						r.Gauge = &agent.Gauge{}
					}
					r.Gauge.Tokens++
				})
				rig.Check(t, err == nil, "%v", err)
			}
		})
	}
	all.Wait()
	got := s.Report("alpha").Gauge
	rig.Check(t, got != nil && got.Tokens == writers*turns, "%+v; want %d", got, writers*turns)
}

func TestDamagedReportIsEmpty(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	rig.Must(t, s.UpdateReport(t.Context(), "alpha", func(r *agent.Report) { r.SessionID = "x" }))
	storetest.Write(t, path(s, "status/alpha.json"), "{")
	rig.Equal(t, s.Report("alpha"), (agent.Report{}), "Report")
	rig.Must(t, s.UpdateReport(t.Context(), "alpha", func(r *agent.Report) { r.Invocation = "i" }))
	rig.Equal(t, s.Report("alpha"), (agent.Report{Invocation: "i"}), "Report")
	err := s.RemoveReport("alpha")
	rig.Check(t, err == nil && s.Report("alpha") == (agent.Report{}), "%v", err)
}

// What a status line said is believed of the recorded start and conversation only.
func TestGaugeOfTheRecordedStart(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	r := record("Alice")
	r.Process = &agent.Process{Invocation: "i"}
	gauge := func() *agent.Gauge { return r.GaugeOf(s.Report(r.Handle)) }
	rig.Equal(t, gauge(), nil, "without a file")
	write := func(report agent.Report) {
		rig.Must(t, s.UpdateReport(t.Context(), r.Handle, func(old *agent.Report) { *old = report }))
	}
	used := 16
	activity := &agent.Activity{State: agent.Idle, Hook: "Stop", At: storetest.SomeTime()}
	said := agent.Gauge{Tokens: 7, Window: 100, UsedPercent: &used, CostUSD: 0.5, At: storetest.SomeTime()}
	write(agent.Report{Invocation: "i", SessionID: r.SessionID, Activity: activity, Gauge: &said})
	got := gauge()
	rig.Check(t, got != nil && got.Tokens == 7 && got.Window == 100 && *got.UsedPercent == 16 && got.CostUSD == 0.5 && got.At.Equal(storetest.SomeTime()), "%+v; want %+v", got, said)
	write(agent.Report{Invocation: "earlier", SessionID: r.SessionID, Gauge: &said})
	rig.Equal(t, gauge(), nil, "of an earlier start")
	at := path(s, "status/alice.json")
	storetest.Write(t, at, "{")
	rig.Equal(t, gauge(), nil, "damaged")
	rig.Must(t, errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o600)))
	rig.Equal(t, gauge(), nil, "a pipe in its place")
	rig.Equal(t, Absent(t.TempDir()).Report(r.Handle), (agent.Report{}), "of a project without .nbs")
}
