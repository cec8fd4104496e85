package headless

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// scripted is a claude that tells events, and then waits to be given up.
type scripted struct {
	Process

	events []turn.Event
	then   func(heard func(turn.Event)) // nil: nothing
}

func (p scripted) Turn(ctx context.Context, _, _ string, heard func(turn.Event), _ ...turn.Image) (turn.Outcome, error) {
	for _, e := range p.events {
		heard(e)
	}
	if p.then != nil {
		p.then(heard)
	}
	<-ctx.Done()
	return turn.Outcome{Class: turn.Interrupted}, ctx.Err()
}

const brief = 30 * time.Millisecond

// What ends a turn, and what is told of it.
func TestLimitsOfATurn(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	close(stopped)
	refusal := turn.Event{Kind: turn.Refused, Status: 429}
	for name, c := range map[string]struct {
		claude scripted
		limits Limits
		words  string
		acted  int
	}{
		"no answer":            {scripted{}, Limits{Whole: brief}, "no answer within 30ms", 0},
		"the API refuses it":   {scripted{events: []turn.Event{refusal, refusal}}, Limits{Whole: brief}, "no answer within 30ms: the API refused it 2 times (429)", 0},
		"the API is silent":    {scripted{events: []turn.Event{{Kind: turn.Refused}}}, Limits{Silence: brief}, "claude was silent for 30ms: the API did not answer 1 request", 0},
		"a tool that runs":     {scripted{events: []turn.Event{{Kind: turn.ToolBegan, Tool: "Bash"}}}, Limits{Whole: 4 * brief, Silence: brief}, "no answer within 120ms", 1},
		"silence after a tool": {scripted{events: []turn.Event{{Kind: turn.ToolBegan, Tool: "Bash"}, {Kind: turn.ToolEnded}}}, Limits{Silence: brief}, "claude was silent for 30ms", 1},
		"a stop":               {scripted{}, Limits{Stop: stopped}, ErrStopped.Error(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Session{Process: c.claude, machine: local.New(), Invocation: agent.NewInvocation()}
			o, err := s.Say(t.Context(), c.limits, "id", "hello", nil)
			rig.Check(t, err != nil && err.Error() == c.words && len(o.Acted) == c.acted, "%v, %q", err, o.Acted)
			rig.Check(t, errors.Is(err, ErrStopped) || fail.KindOf(err) == fail.TimedOut, "%v", err)
		})
	}
}

// A claude that says something now and then is not ended, however long its turn takes; nor is one whose tool runs.
func TestSignsOfLifeKeepATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pause := func(d time.Duration) { _ = clock.Sleep(t.Context(), d) }
		activity, limits, begun := turn.NewActivity(), Limits{Silence: time.Minute}, time.Now()
		go func() {
			for range 10 {
				pause(50 * time.Second)
				activity.Note(turn.Event{Kind: turn.Lived})
			}
			activity.Note(turn.Event{Kind: turn.ToolBegan, Tool: "Bash", ToolID: "1"})
			pause(time.Hour)
			activity.Note(turn.Event{Kind: turn.ToolEnded, ToolID: "1"})
			pause(30 * time.Second)
			activity.Note(turn.Event{Kind: turn.Refused, Status: 529}) // which is no sign of life
		}()
		err := limits.await(t.Context(), activity)
		rig.Check(t, err != nil && err.Error() == "claude was silent for 1m0s: the API refused it (529)", "%v", err)
		rig.Equal(t, time.Since(begun), 500*time.Second+time.Hour+time.Minute, "how long it took")
	})
}
