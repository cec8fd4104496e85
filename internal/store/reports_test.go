package store

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"nbs-worker/internal/agent"
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
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := s.Report("alpha").Gauge; got == nil || got.Tokens != writers*turns {
		t.Errorf("%+v; want %d", got, writers*turns)
	}
}

func TestDamagedReportIsEmpty(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if err := s.UpdateReport(t.Context(), "alpha", func(r *agent.Report) { r.SessionID = "x" }); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Project(), ".nbs/status/alpha.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.Report("alpha"); got != (agent.Report{}) {
		t.Errorf("%+v", got)
	}
	if err := s.UpdateReport(t.Context(), "alpha", func(r *agent.Report) { r.Invocation = "i" }); err != nil {
		t.Fatal(err)
	}
	if got := s.Report("alpha"); got != (agent.Report{Invocation: "i"}) {
		t.Errorf("%+v", got)
	}
	if err := s.RemoveReport("alpha"); err != nil || s.Report("alpha") != (agent.Report{}) {
		t.Errorf("%v", err)
	}
}
