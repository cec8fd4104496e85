package conversation

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless/headlesstest"
)

// mustHear checks what claude was told.
func (s *stage) mustHear(want ...string) {
	s.Helper()
	rig.Check(s.T, strings.Join(s.Texts(), "|") == strings.Join(want, "|"), "claude heard %q; want %q", s.Texts(), want)
}

// A limit is nobody's fault: however often it is met, the turn is answered when it is lifted.
func TestALimitIsNoAttempt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	limit := headlesstest.Failing(turn.Limit)
	s.Answer(limit, limit, limit, limit)
	rig.Must(t, second(s.Accept(t.Context(), "review", Say{Request: conversations.Request{ID: "a", Text: "hello", At: s.now}, Meta: s.meta()})))
	for range 4 {
		until, err := s.Drain(t.Context(), "review")
		rig.Must(t, err)
		s.now = until
	}
	got, err := s.Await(t.Context(), "review", "a")
	rig.Check(t, err == nil && got.Answer != "", "%+v, %v", got, err)
}

// Claude has said the id of a conversation whose first turn failed, so it is known.
func TestAFailedFirstTurnHasItsSession(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(headlesstest.Failing(turn.Overloaded))
	rig.Must(t, second(s.Accept(t.Context(), "review", Say{Request: conversations.Request{ID: "a", Text: "hello", At: s.now}, Meta: s.meta()})))
	until, err := s.Drain(t.Context(), "review")
	rig.Must(t, err)
	begun := s.state().Session
	rig.Check(t, begun.Confirmed, "%+v", begun)
	s.now = until
	got, err := s.Await(t.Context(), "review", "a")
	rig.Must(t, err)
	rig.Check(t, got.SessionID == begun.ID && got.Continuity == conversations.New, "%+v", got)
}

// What stands in another conversation than the one that is gone on with is said in that one: it knows nothing.
func TestWhatStandsElsewhereIsSaid(t *testing.T) {
	t.Parallel()
	t.Run("without the conversation", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.Answer(headlesstest.Failing(turn.Killed), headlesstest.Failing(turn.Killed))
		s.mustAsk("hello", func(r *conversations.Request) { r.Isolated = true })
		s.mustHear("hello", "hello", "hello")
	})
	t.Run("after a reset", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.Answer(headlesstest.Failing(turn.Authentication))
		_, err := s.ask("hello")
		storetest.WantKind(t, "the turn", err, fail.Held)
		_, err = s.Reset(t.Context(), "review", ReasonAsked, nil)
		rig.Must(t, err)
		rig.Must(t, s.Project.Store.Conversations().Of("review").Retry(t.Context(), 1))
		got, err := s.Await(t.Context(), "review", "id 1")
		rig.Must(t, err)
		rig.Check(t, got.Continuity == conversations.Reset, "%+v", got)
		s.mustHear("hello", "hello")
	})
}

// A person who has a turn tried again of which nobody knows how far it came has it gone on with.
func TestAPersonDecidesOnAnUnknownTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(headlesstest.Failing(turn.Killed))
	_, err := s.ask("hello", func(r *conversations.Request) { r.OnUnknown = UnknownAsk })
	storetest.WantKind(t, "the turn", err, fail.Held)
	_, err = s.Drain(t.Context(), "review")
	storetest.WantKind(t, "the turn, which waits for a person", err, fail.Held)
	rig.Check(t, strings.HasPrefix(err.Error(), "the turn, number 1, waits for a person: "), "%v", err)
	rig.Must(t, s.Project.Store.Conversations().Of("review").Retry(t.Context(), 1))
	got, err := s.Await(t.Context(), "review", "id 1")
	rig.Must(t, err)
	rig.Check(t, got.Answer == "re: "+turn.Continue, "%+v", got)
	s.mustHear("hello", turn.Continue)
}

// That the conversation was open elsewhere says nothing of a text: the wish to send it again still counts.
func TestRerunAfterAConversationThatWasInUse(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(headlesstest.Failing(turn.Killed), headlesstest.Failing(turn.SessionInUse))
	_, err := s.ask("hello", func(r *conversations.Request) { r.OnUnknown = UnknownRerun })
	rig.Must(t, err)
	s.mustHear("hello", "hello", "hello")
}

// A runner who was just killed may have the lease for a moment longer than the right to run turns.
func TestADyingRunnerIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	first := s.mustAsk("one")
	letGo, err := s.Project.Store.AcquireLease(first.SessionID, store.Holder{PID: 1, Verb: "ask", Since: s.now})
	rig.Must(t, err)
	time.AfterFunc(100*time.Millisecond, letGo)
	got := s.mustAsk("two")
	rig.Check(t, got.Continuity == conversations.Resumed, "%+v", got)
}

// A turn that came to nothing because its conversation was open elsewhere says so, and not that claude was ended.
func TestAConversationThatIsOpenElsewhereIsTold(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	inUse := headlesstest.Failing(turn.SessionInUse)
	s.Answer(inUse, inUse, inUse)
	_, err := s.ask("hello")
	storetest.WantKind(t, "the turn", err, fail.Held)
	held := s.state().Open[0].Held
	rig.Check(t, held != nil && held.Class == string(ClassInUse) && strings.HasSuffix(held.Reason, ": it is session_in_use"), "%+v", held)
}
