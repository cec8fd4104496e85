package conversation

import (
	"fmt"
	"testing"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/turnfiles"
	"nbs-worker/internal/team/headless/headlesstest"
)

// Who looks at a turn, also from another process, sees that the API refuses claude, until it does so no more.
func TestARunningTurnSaysThatTheAPIRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Go = make(chan struct{})
	s.Answer(turn.Outcome{Class: headlesstest.Waits, Answer: headlesstest.RefusedFirst})
	over := make(chan conversations.Result, 1)
	go func() { r, _ := s.ask("one"); over <- r }()
	another := New(s.Project)
	var at conversations.Turn
	rig.WaitFor(t, "the turn is seen to be refused", func() (bool, string) {
		state, err := s.Project.Store.Conversations().Of("review").State()
		if err != nil {
			return false, err.Error()
		}
		open, err := another.Open(&state)
		rig.Must(t, err)
		if len(open) == 0 || open[0].Refusal == "" {
			return false, fmt.Sprintf("%+v", open)
		}
		rig.Check(t, open[0].Word == Running && open[0].Refusal == "the API of Claude refuses (401); Claude tries again", "%+v", open[0])
		at = open[0].Turn
		return true, ""
	})
	close(s.Go)
	rig.Equal(t, (<-over).Answer, "at last", "the answer")
	files := s.Project.Store.TurnFiles(at.Starts[0].Invocation)
	rig.Check(t, !files.Has(turnfiles.Refused), "the note is left")
}

// What is noted follows the events, and an event that comes after the end of the turn leaves nothing.
func TestRefusalsFollowTheEvents(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	at := conversations.Turn{Starts: []conversations.Start{{Invocation: "mine"}}}
	r := &refusals{files: s.Project.Store.TurnFiles("mine")}
	refused := func(status int) turn.Event { return turn.Event{Kind: turn.Refused, Status: status} }
	for _, step := range []struct {
		event turn.Event
		want  string
	}{
		{refused(529), "the API of Claude refuses (529); Claude tries again"},
		{refused(0), "the API of Claude does not answer; Claude tries again"},
		{turn.Event{Kind: turn.Lived}, ""},
		{refused(401), "the API of Claude refuses (401); Claude tries again"},
	} {
		r.hear(step.event)
		rig.Equal(t, s.refusal(&at), step.want, "after %+v", step.event)
	}
	r.end()
	r.hear(refused(401))
	rig.Equal(t, s.refusal(&at), "", "after the end")
}
