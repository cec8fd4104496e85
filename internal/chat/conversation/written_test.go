package conversation

import (
	"strings"
	"testing"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless/headlesstest"
)

// What is told is in the transcript, which may be written later than the answer comes.
func TestAnAnswerIsOnDiskWhenItIsTold(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	s.Answer(turn.Outcome{Class: headlesstest.WritesLate, Answer: "yes"})
	got := s.mustAsk("one")
	rig.Check(t, got.Answer == "yes" && strings.Contains(storetest.Read(t, s.Transcript(got.SessionID)), `"yes"`), "%+v", got)
}

// A claude that stays for the next turn answers, and is killed before it has written anything down: with the answer told,
// the conversation would be gone.
func TestAnAnswerThatWasNeverWrittenIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	s.Answer(turn.Outcome{Class: headlesstest.KilledAnswering, Answer: "lost"})
	got := s.mustAsk("one")
	rig.Check(t, got.Answer == "re: one" && got.Continuity == conversations.New && got.Attempts == 2, "%+v", got)
	next := s.mustAsk("two")
	rig.Check(t, next.SessionID == got.SessionID && next.Continuity == conversations.Resumed, "%+v", next)
}

// A session of which Claude wrote nothing is no conversation that could be lost.
func TestAFailureBeforeAnythingWasWrittenLosesNoConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(turn.Outcome{Class: headlesstest.NeverWrote, Detail: "its wrapper was killed"})
	failed := s.mustAsk("one")
	rig.Check(t, failed.Class == string(turn.Failed) && !s.state().Session.Confirmed, "%+v", failed)
	got := s.mustAsk("two")
	rig.Check(t, got.Answer == "re: two" && got.Continuity == conversations.New, "%+v", got)
}
