package recovery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/team/triage"
)

// What was killed is told in the journal by who comes after it, one time.
func TestWhatWasCutShortIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(is("a", triage.Idle, 0), is("b", triage.Waiting, 0))
	for _, handle := range []agent.Handle{"a", "b"} {
		w.attempts[handle] = runs.Attempt{SessionID: "old", Level: 3, Begun: time.Now()}
	}
	w.run(t, Options{MaxLevel: triage.LevelFresh})
	w.run(t, Options{MaxLevel: triage.LevelFresh})
	want := []string{"a level 3, resume: was cut short; now it is idle: seen", "b level 3, resume: was cut short; now it is waiting: seen"}
	if !slices.Equal(w.noted, want) || len(w.done) != 0 {
		t.Errorf("%q, and %q was done; want %q", w.noted, w.done, want)
	}
}

// What was cut short when the old conversation was gone is gone on with as far as this run may go.
func TestWhatWasCutShortIsNoPermissionToStart(t *testing.T) {
	t.Parallel()
	w := newWorld(is("a", triage.Dead, 3), is("b", triage.Missing, 0))
	for _, handle := range []agent.Handle{"a", "b"} {
		w.attempts[handle] = runs.Attempt{SessionID: "before", Level: 4, Begun: time.Now()}
	}
	report := w.run(t, low)
	for i, want := range []string{"it needs level 3, resume, and no more than level 2 is permitted", "it needs a person"} {
		if got := report.Cases[i].Left; got != want || len(w.done) != 0 {
			t.Errorf("%q, and %q was done; want %q", got, w.done, want)
		}
	}
	w.run(t, Options{MaxLevel: triage.LevelResume})
	if got := strings.Join(w.done, ", "); got != "fresh a" {
		t.Errorf("%q was done; want the briefing of a", got)
	}
}

// Of an agent for whose reaction the run was interrupted it is not said that it did not react.
func TestAnInterruptedPingSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(is("a", triage.Stuck, 2))
	ctx, stop := context.WithCancel(t.Context())
	report, err := (&Ladder{Verbs: w, Memory: w}).Run(ctx, Options{
		Handles: []agent.Handle{"a"}, MaxLevel: triage.LevelFresh, Progress: func(*Case) { stop() },
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(report.Cases[0].Steps[0].Result, "interrupted") {
		t.Errorf("%v, %+v", err, report.Cases)
	}
}
