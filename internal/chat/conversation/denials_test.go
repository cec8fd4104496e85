package conversation

import (
	"fmt"
	"slices"
	"testing"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
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

// An answer that is found in the transcript after its runner was killed says what was refused, and fails if it is asked so;
// also if a stop finds it.
func TestToolsThatWereRefusedBeforeAKill(t *testing.T) {
	t.Parallel()
	for class, strict := range map[string]bool{"": false, string(ClassDenied): true} {
		s := newStage(t)
		request := conversations.Request{ID: "a", Text: "hello", At: s.now, FailDenied: strict}
		rig.Must(t, second(s.Accept(t.Context(), "review", Say{Request: request, Meta: s.meta()})))
		s.begunBy(s.ended(), true)
		begun := s.state().Open[0].Starts[0]
		path := s.Transcript(begun.Session)
		storetest.Write(t, path, storetest.Read(t, path)+fmt.Sprintf(`{"uuid":"b","parentUuid":%q,"type":"assistant","message":{"role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"x.txt"}}]}}
{"uuid":"c","parentUuid":"b","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"no","is_error":true}]},"permissionDecision":{"decision":"reject"}}
{"uuid":"d","parentUuid":"c","type":"assistant","message":{"role":"assistant","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"I could not."}]}}
`, turn.TextID(string(begun.Invocation), 1)))
		if strict {
			rig.Must(t, s.Project.Store.Conversations().Of("review").Stop(t.Context(), 1, byTest, s.now))
		}
		got, err := s.Await(t.Context(), "review", "a")
		rig.Check(t, err == nil && got.Class == class && got.Answer == "I could not." && len(got.Denials) == 1 && got.Denials[0] == conversations.Denial{Tool: "Write", Input: "x.txt"}, "%+v, %v", got, err)
		rig.Check(t, strict || got.Notice == "Claude was not permitted to use Write.", "%+v", got)
	}
}
