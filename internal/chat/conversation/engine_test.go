package conversation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/turns"
	"nbs-worker/internal/team/headless/headlesstest"
)

// The first turn begins a conversation with an id of ours, and the next ones go on in it.
func TestAConversationGoesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	first, second := s.mustAsk("one"), s.mustAsk("two")
	rig.Check(t, first.Answer == "re: one" && first.Continuity == conversations.New && second.Continuity == conversations.Resumed && second.SessionID == first.SessionID, "%+v, then %+v", first, second)
	rig.Check(t, strings.Contains(strings.Join(s.Launches()[0].Args, " "), "--session-id "+string(first.SessionID)) && strings.Contains(strings.Join(s.Launches()[1].Args, " "), "--resume "+string(first.SessionID)), "claude was started with %q, then %q", s.Launches()[0].Args, s.Launches()[1].Args)
	for _, l := range s.Launches() {
		for _, word := range append(l.Args, l.Env...) {
			rig.Check(t, word != "one" && word != "two", "a text is in what others can read")
		}
	}
}

// Whatever id Claude answers with is the one that is gone on with.
func TestTheAnswersIDIsTheNextOnes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	chain := agent.NewSessionID()
	s.Answer(turn.Outcome{Answer: "yes", SessionID: chain})
	s.mustAsk("one")
	got := s.mustAsk("two")
	rig.Check(t, got.SessionID == chain && got.Continuity == conversations.Resumed, "%+v; want it in %s", got, chain)
}

// Many ask at once: one turn at a time, in the order in which they were accepted, and each gets its own answer.
func TestTurnsOfAKeyAreOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var all sync.WaitGroup
	const askers, turns = 6, 5
	for asker := range askers {
		all.Go(func() {
			for i := range turns {
				text := fmt.Sprintf("%d:%d", asker, i)
				got, err := s.ask(text)
				rig.Check(t, err == nil && got.Answer == "re: "+text, "%s: %+v, %v", text, got, err)
			}
		})
	}
	all.Wait()
	lines, err := s.Project.Store.Conversations().Of("review").Journal()
	rig.Must(t, err)
	next := 0
	for _, line := range lines {
		if line.What == conversations.Started {
			if next++; line.Seq != next {
				t.Fatalf("turn %d was begun as number %d", line.Seq, next)
			}
		}
	}
	rig.Check(t, next == askers*turns, "%d turns were begun; want %d", next, askers*turns)
}

// The same id is one turn, however often and by whomever it is asked.
func TestOneIDIsRunOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			got, err := s.ask("pay", func(r *conversations.Request) { r.ID = "update-77" })
			rig.Check(t, err == nil && got.Answer == "re: pay", "%+v, %v", got, err)
		})
	}
	all.Wait()
	rig.Check(t, len(s.Texts()) == 1, "it was said %d times", len(s.Texts()))
	_, err := s.ask("pay twice", func(r *conversations.Request) { r.ID = "update-77" })
	storetest.WantKind(t, "another text under the same id", err, fail.Conflict)
}

// What a failure leads to. In each case the conversation stays, and the next turn goes on in it.
func TestFailures(t *testing.T) {
	t.Parallel()
	for class, want := range map[turn.Class]struct {
		kind fail.Kind
		word string // of the turn that is left open; "": none
	}{
		turn.BadRequest: {fail.Failed, ""}, turn.BadModel: {fail.BadInput, ""}, turn.TooLong: {fail.Failed, ""}, turn.Failed: {fail.Failed, ""},
		turn.Authentication: {fail.Held, Later}, turn.Limit: {fail.Held, Later},
	} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			before := s.mustAsk("before")
			s.Answer(headlesstest.Failing(class))
			got, err := s.ask("now")
			if err == nil {
				err = ErrOf("review", got)
			}
			storetest.WantKind(t, "ask", err, want.kind)
			open, lookErr := s.Open(ptr(s.state()))
			rig.Must(t, lookErr)
			if want.word == "" {
				rig.Check(t, len(open) == 0, "it is left open: %+v", open)
			} else {
				rig.Check(t, len(open) == 1 && open[0].Word == want.word, "it is %+v; want one that is %s", open, want.word)
				rig.Must(t, s.Project.Store.Conversations().Of("review").Skip(t.Context(), open[0].Seq, "in the way"))
			}
			after := s.mustAsk("after")
			rig.Check(t, after.SessionID == before.SessionID && after.Continuity == conversations.Resumed, "the conversation is another one: %+v", after)
		})
	}
}

func ptr[T any](v T) *T { return &v }

// What passes is tried again, and its text is not said again: it stands in the conversation. The third
// attempt is the last one, until a person decides.
func TestAnOverloadIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(headlesstest.Failing(turn.Overloaded), headlesstest.Failing(turn.ServerError), headlesstest.Failing(turn.Overloaded))
	rig.Must(t, second(s.Accept(t.Context(), "review", Say{Request: conversations.Request{ID: "a", Text: "hello", At: s.now}, Meta: s.meta()})))
	for n, wait := range []time.Duration{5 * time.Second, 20 * time.Second} {
		until, err := s.Drain(t.Context(), "review")
		rig.Must(t, err)
		rig.Check(t, until.Equal(s.now.Add(wait)), "attempt %d is followed by one after %s; want %s", n+1, until.Sub(s.now), wait)
		s.now = until
	}
	_, err := s.Drain(t.Context(), "review")
	storetest.WantKind(t, "the third attempt", err, fail.Held)
	want := []string{"hello", turn.Continue, turn.Continue}
	rig.Check(t, strings.Join(s.Texts(), "|") == strings.Join(want, "|"), "claude heard %q; want %q", s.Texts(), want)
	rig.Must(t, s.Project.Store.Conversations().Of("review").Retry(t.Context(), 1))
	got, err := s.Await(t.Context(), "review", "a")
	rig.Check(t, err == nil && got.Answer == "re: "+turn.Continue, "after a retry: %+v, %v", got, err)
}

func second[A, B any](_ A, _ B, err error) error { return err }

// A claude that was killed is looked up: what it never heard is said, what it answered is the answer, and what
// it only heard is not said again.
func TestWhatBecameOfAKilledTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome turn.Outcome
		heard   []string
	}{
		"it never stood there":        {headlesstest.Failing(headlesstest.NeverHeard), []string{"hello", "hello"}},
		"it stands there":             {headlesstest.Failing(turn.Killed), []string{"hello", turn.Continue}},
		"it was taken for a new id's": {headlesstest.Failing(turn.SessionInUse), []string{"hello", turn.Continue}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.Answer(c.outcome)
			got := s.mustAsk("hello")
			rig.Check(t, strings.HasPrefix(got.Answer, "re: "), "%+v", got)
			rig.Check(t, strings.Join(s.Texts(), "|") == strings.Join(c.heard, "|"), "claude heard %q; want %q", s.Texts(), c.heard)
		})
	}
}

// What kills its claude each time blocks its key until a person gives it up, and what is behind it is next then.
func TestADeadLetterBlocksItsKey(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Respond = func(_ int, text string) turn.Outcome {
		if text == "poison" || text == turn.Continue {
			return headlesstest.Failing(turn.Killed)
		}
		return turn.Outcome{Answer: "re: " + text}
	}
	_, err := s.ask("poison")
	storetest.WantKind(t, "the poison", err, fail.Held)
	storetest.WantHint(t, err, "conversation skip 'review'")
	rig.Check(t, len(s.Texts()) == 3, "it was tried %d times; want 3", len(s.Texts()))
	_, err = s.ask("behind it")
	storetest.WantKind(t, "what is behind it", err, fail.Held)
	rig.Must(t, s.Project.Store.Conversations().Of("review").Skip(t.Context(), 1, "a person gave it up"))
	if _, err := s.Drain(t.Context(), "review"); err != nil {
		t.Error(err)
	}
	open := s.state().Open
	rig.Check(t, len(open) == 0, "still open: %+v", open)
}

// A conversation whose transcript is gone, and was not kept, is replaced where that was asked for, and told.
func TestALostConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	before := s.mustAsk("one")
	lose := func() {
		rig.Must(t, os.Remove(s.Transcript(s.state().Session.ID)))
		rig.Must(t, s.Project.Store.Archive().Remove(s.state().Session.ID))
	}
	lose()
	got := s.mustAsk("two")
	rig.Check(t, got.Class == ClassLost && fail.KindOf(ErrOf("review", got)) == fail.NotFound, "%+v", got)
	rig.Check(t, s.state().Session.ID == before.SessionID, "the session was given up: %+v", s.state())
	fresh := func(r *conversations.Request) { r.OnLost = LostFresh }
	got = s.mustAsk("three", fresh)
	rig.Check(t, got.Continuity == conversations.Reset && got.PreviousSessionID == before.SessionID && strings.Contains(got.Notice, string(before.SessionID)) && got.Reason != "", "it is not told: %+v", got)
	again := s.mustAsk("four", fresh)
	rig.Check(t, again.Continuity == conversations.Resumed && again.Notice == "", "it is told twice: %+v", again)
}

// A session that was imported without a transcript was never known here, and nothing says that it was.
func TestAnImportedSessionWithoutATranscript(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := agent.NewSessionID()
	rig.Must(t, s.Project.Store.Conversations().Of("review").Adopt(t.Context(), s.meta(), id, false))
	rig.Equal(t, Describe(ptr(s.state())), "none (session "+string(id)+" was imported without a transcript)", "described")
	got := s.mustAsk("one")
	rig.Check(t, got.Class == ClassLost && strings.HasSuffix(got.Error, "was imported, and Claude has never had a transcript of it here"), "%+v", got)
	got = s.mustAsk("two", func(r *conversations.Request) { r.OnLost = LostFresh })
	rig.Check(t, got.Continuity == conversations.Reset && got.PreviousSessionID == id && !strings.Contains(got.Notice, "gone"), "%+v", got)
}

// What is gone and was kept is put back.
func TestAKeptConversationIsPutBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	before := s.mustAsk("one")
	rig.Must(t, os.Remove(s.Transcript(before.SessionID)))
	got := s.mustAsk("two")
	rig.Check(t, got.Continuity == conversations.Resumed && got.SessionID == before.SessionID, "%+v", got)
	text := storetest.Read(t, s.Transcript(before.SessionID))
	rig.Check(t, strings.Contains(text, `"one"`) && strings.Contains(text, `"two"`), "the transcript is %s", text)
}

// A file without a message makes an id useless for Claude: an id of ours that nothing was said in yet is minted anew.
func TestAnEmptyTranscriptTakesNeitherFlag(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var minted agent.SessionID
	s.Respond = func(n int, text string) turn.Outcome {
		if n > 1 {
			return turn.Outcome{Answer: "re: " + text}
		}
		minted = s.state().Session.ID
		rig.Must(t, os.MkdirAll(filepath.Dir(s.Transcript(minted)), 0o700))
		storetest.Write(t, s.Transcript(minted), "")
		return headlesstest.Failing(headlesstest.NeverHeard)
	}
	got := s.mustAsk("hello")
	rig.Check(t, got.SessionID != minted && got.Continuity == conversations.New, "%+v; it began in %s", got, minted)
}

// A turn without the conversation leaves it as it is.
func TestAnIsolatedTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	before := s.mustAsk("one")
	alone := s.mustAsk("alone", func(r *conversations.Request) { r.Isolated = true })
	after := s.mustAsk("two")
	rig.Check(t, alone.SessionID != before.SessionID && after.SessionID == before.SessionID && alone.Continuity == conversations.New, "%+v, %+v, %+v", before, alone, after)
}

// A turn without an answer in time is over, and so is its claude.
func TestATurnThatTakesTooLong(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(headlesstest.Failing(headlesstest.Waits))
	got := s.mustAsk("hello", func(r *conversations.Request) { r.Timeout = time.Millisecond })
	storetest.WantKind(t, "the turn", ErrOf("review", got), fail.TimedOut)
}

// A text that could not be said at all is no turn that took too long: it stays open.
func TestATextThatCouldNotBeSaid(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(headlesstest.Failing(headlesstest.TakesNone))
	_, err := s.ask("hello")
	storetest.WantKind(t, "the turn", err, fail.Conflict)
	rig.Check(t, len(s.state().Open) == 1, "it is over: %+v", s.state())
}

// Who is interrupted leaves the turn to whoever comes next.
func TestAnInterruptedTurnStaysOpen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(headlesstest.Failing(headlesstest.Waits))
	ctx, cancel := context.WithCancel(t.Context())
	rig.Must(t, second(s.Accept(ctx, "review", Say{Request: conversations.Request{ID: "a", Text: "hello", At: s.now}, Meta: s.meta()})))
	done := make(chan error)
	go func() { _, err := s.Await(ctx, "review", "a"); done <- err }()
	rig.WaitFor(t, "claude hears it", func() (bool, string) {
		return len(s.Texts()) == 1, ""
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	got, err := s.Await(t.Context(), "review", "a")
	rig.Check(t, err == nil && got.Answer == "re: hello", "%+v, %v", got, err)
}

// The system prompt is given at every turn; another one is refused until a reset.
func TestTheSystemPromptIsTheConversations(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	say := Say{Request: conversations.Request{ID: "1", Text: "one", At: s.now}, Meta: s.meta()}
	say.Meta.SystemPrompt = "Be terse."
	rig.Must(t, second(s.Accept(t.Context(), "review", say)))
	_, err := s.Await(t.Context(), "review", "1")
	rig.Must(t, err)
	s.mustAsk("two")
	for _, l := range s.Launches() {
		rig.Check(t, strings.Contains(strings.Join(l.Args, " "), "--system-prompt-file "), "claude was started with %q", l.Args)
		rig.Check(t, !strings.Contains(strings.Join(l.Args, " "), "terse"), "the prompt is in what others can read: %q", l.Args)
	}
	say.Meta.SystemPrompt, say.ID = "Be verbose.", "3"
	storetest.WantKind(t, "another one", second(s.Accept(t.Context(), "review", say)), fail.Conflict)
	_, err = s.Reset(t.Context(), "review", ReasonAsked, func(m *conversations.Meta) error { m.SystemPrompt = "Be verbose."; return nil })
	rig.Must(t, err)
	rig.Must(t, second(s.Accept(t.Context(), "review", say)))
}

// After tools were used nobody knows what was done: a person decides, and then the text is not said again.
func TestAPersonDecidesOnATurnWithTools(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Respond = func(n int, text string) turn.Outcome {
		if n == 1 {
			return turn.Outcome{Class: turn.Killed, Answer: headlesstest.UsedTool}
		}
		return turn.Outcome{Answer: "re: " + text}
	}
	_, err := s.ask("pay")
	storetest.WantKind(t, "a turn that may have paid", err, fail.Held)
	rig.Must(t, s.Project.Store.Conversations().Of("review").Retry(t.Context(), 1))
	_, err = s.Drain(t.Context(), "review")
	rig.Check(t, err == nil && strings.Join(s.Texts(), "|") == "pay|"+turn.Continue, "claude heard %q; %v", s.Texts(), err)
}

// An id under which nothing was accepted is no reason to wait.
func TestAnIDThatNobodyAccepted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mustAsk("one")
	_, err := s.Await(t.Context(), "review", "another")
	storetest.WantKind(t, "it", err, fail.NotFound)
}

// A turn that another turn waits for is answered, also where those that run have all the places.
func TestANestedTurnNeedsNoPlace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for range turns.AtOnce() {
		release, err := s.Project.Store.ConversationTurns().Await(t.Context(), func(int) bool { return false }, func() { t.Error("it waits") })
		rig.Must(t, err)
		defer release()
	}
	got := s.mustAsk("hello", func(r *conversations.Request) { r.Nested = true })
	rig.Check(t, got.Answer == "re: hello", "%+v", got)
}
