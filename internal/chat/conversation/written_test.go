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

// A hook of the user's refuses the first text: Claude has a transcript without a message then, and the next text begins
// the conversation. A refused text later on changes nothing.
func TestARefusedTextLeavesTheKeyAlive(t *testing.T) {
	t.Parallel()
	refused := turn.Outcome{Class: turn.Blocked, Detail: "no secrets here"}
	for _, s := range []*stage{newStage(t), warm(t, 4)} {
		s.Answer(refused)
		got := s.mustAsk("one")
		rig.Check(t, got.Class == "blocked" && got.Error == "no secrets here" && !s.state().Session.Confirmed, "%+v", got)
		err := ErrOf("review", got)
		rig.Check(t, err != nil && strings.Contains(err.Error(), "a hook of yours refused the text: no secrets here"), "%v", err)
		first := s.mustAsk("two")
		rig.Check(t, first.Answer == "re: two" && first.Continuity == conversations.New && first.SessionID != "", "%+v", first)
		s.Answer(refused)
		rig.Equal(t, s.mustAsk("three").Class, "blocked", "class")
		next := s.mustAsk("four")
		rig.Check(t, next.Answer == "re: four" && next.SessionID == first.SessionID && next.Continuity == conversations.Resumed, "%+v", next)
	}
}

// A claude says that its answer is empty. If the transcript has another one, that is told; if it has only the use of a
// tool, the answer is empty. Only of a claude that has died it is unknown how far it got.
func TestAnEmptyAnswerIsComparedWithTheTranscript(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(turn.Outcome{Class: headlesstest.SaysNothing, Answer: "the real one"})
	got := s.mustAsk("one")
	rig.Check(t, got.Answer == "the real one" && got.Attempts == 1, "written: %+v", got)
	s.Answer(turn.Outcome{})
	got = s.mustAsk("two")
	rig.Check(t, got.Class == "" && got.Answer == "" && got.Attempts == 1, "empty: %+v", got)

	afterTool := turn.Outcome{Class: headlesstest.SaysNothing, Answer: headlesstest.UsedTool}
	for what, s := range map[string]*stage{"cold": newStage(t), "warm": warm(t, 4)} {
		s.Answer(afterTool)
		got := s.mustAsk("one")
		rig.Check(t, got.Class == "" && got.Answer == "" && got.Attempts == 1, "%s, after a tool: %+v", what, got)
	}
	s = warm(t, 4)
	s.Respond = func(_ int, text string) turn.Outcome {
		if text != "one" {
			return turn.Outcome{Answer: "gone on with"}
		}
		s.End()
		return afterTool
	}
	got = s.mustAsk("one", func(r *conversations.Request) { r.OnUnknown = UnknownContinue })
	rig.Check(t, got.Answer == "gone on with" && got.Attempts == 2, "of a claude that died: %+v", got)
}
