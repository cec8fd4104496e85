package conversation

import (
	"slices"
	"testing"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// Refused tools are in the result, and its notice names each once. A failed turn has no notice.
func TestRefusedToolsAreTold(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	refused := []turn.Denial{{Tool: "Write", Input: "one"}, {Tool: "Bash", Input: "ls"}, {Tool: "Write", Input: "two"}}
	s.Answer(
		turn.Outcome{Answer: "I could not.", Denials: refused, Warning: "Ignoring 1 entry"},
		turn.Outcome{Class: turn.Failed, Detail: "it failed", Denials: refused},
	)
	got := s.mustAsk("one")
	want := []conversations.Denial{{Tool: "Write", Input: "one"}, {Tool: "Bash", Input: "ls"}, {Tool: "Write", Input: "two"}}
	rig.Check(t, slices.Equal(got.Denials, want) && got.Notice == "Claude was not permitted to use Write, Bash." && got.Warning == "Ignoring 1 entry", "%+v", got)
	failed := s.mustAsk("two")
	rig.Check(t, len(failed.Denials) == 3 && failed.Notice == "" && failed.Class == string(turn.Failed), "%+v", failed)
	s.Answer(turn.Outcome{Answer: "I could not.", Denials: refused[:1]})
	strict := s.mustAsk("three", func(r *conversations.Request) { r.FailDenied = true })
	err := ErrOf("review", strict)
	rig.Check(t, strict.Class == string(ClassDenied) && err != nil && err.Error() == "Claude was not permitted to use Write", "%+v, %v", strict, err)
	fine := s.mustAsk("four", func(r *conversations.Request) { r.FailDenied = true })
	rig.Check(t, len(fine.Denials) == 0 && fine.Notice == "" && fine.Warning == "", "%+v", fine)
}

// A tool that is refused in a turn that Claude begins by itself counts as one of the turn before it, and makes that fail
// if it is asked so.
func TestToolsThatAreRefusedAfterTheAnswer(t *testing.T) {
	t.Parallel()
	for class, strict := range map[string]bool{"": false, string(ClassDenied): true} {
		s := newStage(t)
		s.begins("sleep 9")
		asked := make(chan conversations.Result)
		go func() {
			asked <- s.mustAsk("one", func(r *conversations.Request) { r.ID, r.FailDenied = "one", strict })
		}()
		s.recorded("one")
		s.Last().Refuses("a", "I could not write it down.", "Write")
		s.Last().Work()
		got := <-asked
		rig.Check(t, got.Class == class && got.Notice == "Claude was not permitted to use Write.", "%+v", got)
		rig.Check(t, len(got.Denials) == 1 && got.Denials[0].Tool == "Write" && len(got.FollowUps) == 1 && !s.state().Cut, "%+v", got)
		rig.Check(t, !strict || got.Error == "Claude was not permitted to use Write", "%+v", got)
	}
}
