package conversation

import (
	"slices"
	"testing"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless/headlesstest"
)

func asCommand(r *conversations.Request) { r.Command = true }

// A command runs as one, and only where it is asked for: the same words are a text otherwise.
func TestCommandsRunWhereTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mustAsk("/daily as words")
	got := s.mustAsk("/daily now", asCommand)
	rig.Check(t, got.Answer == "re: /daily now" && slices.Equal(s.Ran(), []string{"/daily now"}), "%+v, ran %q", got, s.Ran())
	for _, text := range []string{"/clear", "daily"} {
		_, err := s.ask(text, asCommand)
		storetest.WantKind(t, text, err, fail.BadInput)
	}
	s.Answer(turn.Outcome{Class: turn.UnknownCommand, Detail: "Claude has no command /weekly here"})
	unknown := s.mustAsk("/weekly", asCommand)
	storetest.WantKind(t, "a command that claude does not have", ErrOf("review", unknown), fail.BadInput)
	after := s.mustAsk("after")
	rig.Check(t, after.SessionID == got.SessionID && after.Continuity == conversations.Resumed, "%+v", after)
}

// A command whose claude was killed in the middle is not run a second time: claude is asked for the answer.
func TestACommandIsNotRunTwice(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mustAsk("before")
	s.Answer(turn.Outcome{Class: turn.Killed})
	got := s.mustAsk("/daily", asCommand)
	rig.Check(t, len(s.Ran()) == 1 && s.Texts()[len(s.Texts())-1] == turn.Continue && got.Class == "", "ran %q, texts %q, %+v", s.Ran(), s.Texts(), got)
}

// A claude that did not take a text is unharmed, and keeps its background tasks. What it says later still belongs to
// its last answer.
func TestARefusedTextEndsNoBackgroundTask(t *testing.T) {
	t.Parallel()
	for _, class := range []turn.Class{turn.UnknownCommand, turn.Blocked} {
		s := warm(t, 4)
		s.begins("npm run dev")
		one := s.mustAsk("one")
		s.Answer(headlesstest.Failing(class))
		refused := s.mustAsk("two")
		rig.Check(t, refused.Class == string(class) && refused.Notice == "" && s.Alive() == 1, "%s: %+v", class, refused)
		s.Last().Says("a", "It runs.")
		three := s.mustAsk("three")
		rig.Check(t, three.Answer == "re: three" && len(s.Launches()) == 1, "%s: %+v", class, three)
		rig.Same(t, "what it said by itself", []string{"It runs."}, s.result(one.ID).FollowUps)
	}
}

// A claude whose first text was refused has no conversation yet: it is not kept.
func TestAClaudeWithoutAConversationIsNotKept(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	s.Answer(headlesstest.Failing(turn.Blocked))
	s.mustAsk("one")
	got := s.mustAsk("two")
	rig.Check(t, got.Continuity == conversations.New && got.Answer == "re: two" && len(s.Launches()) == 2, "%+v", got)
}
