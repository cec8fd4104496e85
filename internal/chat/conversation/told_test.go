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

func (s *stage) mustTell(text string) {
	s.Helper()
	rig.Must(s.T, s.Project.Store.Conversations().Of("review").Tell(s.Context(), s.meta(), conversations.Told{By: "schedule morning", At: s.now, Text: text}))
}

// contexts returns how many contexts in a session's transcript have a text. Each stands twice in its record.
func (s *stage) contexts(of conversations.Result, text string) int {
	s.Helper()
	return strings.Count(storetest.Read(s.T, s.Transcript(of.SessionID)), text) / 2
}

// What a chat was told is context of its next turn, beside the user's words, and of no later one.
func TestWhatWasToldIsContextOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mustTell("It will rain.")
	alone := s.mustAsk("apart", func(r *conversations.Request) { r.Isolated = true })
	rig.Equal(t, s.contexts(alone, "It will rain."), 0, "in a turn outside of the conversation")
	first := s.mustAsk("one")
	s.mustAsk("two")
	rig.Check(t, first.Continuity == conversations.New && first.Notice == "", "%+v", first)
	rig.Equal(t, s.contexts(first, ", schedule morning]\\nIt will rain."), 1, "contexts with it")
	s.mustHear("apart", "one", "two")
}

// A turn that is tried again carries it again, whether or not Claude had it with the first attempt.
func TestATurnThatIsTriedAgainCarriesWhatWasTold(t *testing.T) {
	t.Parallel()
	for class, want := range map[turn.Class]int{headlesstest.NeverHeard: 1, turn.Overloaded: 2} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.mustTell("It will rain.")
			s.Answer(turn.Outcome{Class: class})
			rig.Must(t, second(s.Accept(t.Context(), "review", Say{Request: conversations.Request{ID: "a", Text: "hello", At: s.now}, Meta: s.meta()})))
			until, err := s.Drain(t.Context(), "review")
			rig.Must(t, err)
			if !until.IsZero() {
				s.now = until
			}
			got, err := s.Await(t.Context(), "review", "a")
			rig.Check(t, err == nil && got.Class == "", "%+v, %v", got, err)
			rig.Equal(t, s.contexts(got, "It will rain."), want, "contexts with it")
			rig.Equal(t, len(s.state().Told), 0, "texts that are left")
		})
	}
}
