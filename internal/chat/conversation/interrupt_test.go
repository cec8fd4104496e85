package conversation

import (
	"context"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/turns"
	"nbs-worker/internal/team/headless/headlesstest"
)

const byTest = "stopped by a test"

// accept queues texts, whose ids they are.
func (s *stage) accept(texts ...string) {
	s.Helper()
	for _, text := range texts {
		rig.Must(s.T, second(s.Accept(s.Context(), "review", Say{Request: conversations.Request{ID: text, Text: text, At: s.now}, Meta: s.meta()})))
	}
}

// drain runs the open turns; the channel has the error of the run when it is over.
func (s *stage) drain() chan error {
	over := make(chan error, 1)
	go func() { _, err := s.Drain(s.Context(), "review"); over <- err }()
	return over
}

func (s *stage) resultOf(id string) conversations.Result {
	s.Helper()
	r, there, err := s.Project.Store.Conversations().Of("review").Result(id)
	rig.Check(s.T, there && err == nil, "%s has no result: %v", id, err)
	return r
}

// A turn that is stopped ends, whoever waits for it is told, and the turn behind it is answered in the same conversation.
// To stop it again is no fault.
func TestInterruptEndsTheTurnThatRuns(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*stage{"cold": newStage(t), "warm": warm(t, 4)} {
		t.Run(name, func(t *testing.T) {
			before := s.mustAsk("before")
			s.Answer(turn.Outcome{Class: headlesstest.Waits, Answer: headlesstest.UsedTool})
			s.accept("one", "two")
			over := s.drain()
			rig.WaitFor(t, "claude hears it", func() (bool, string) { return len(s.Texts()) == 2, "" })
			stopped, err := s.Interrupt(t.Context(), "review", 0, byTest)
			rig.Must(t, err)
			rig.Check(t, stopped.Seq == 2 && stopped.Class == string(turn.Interrupted) && stopped.Error == byTest && len(stopped.Acted) == 1, "%+v", stopped)
			err = ErrOf("review", stopped.Result)
			storetest.WantKind(t, "who waits for it", err, fail.Failed)
			rig.Check(t, err.Error() == byTest+"; Claude had used Bash; the conversation is kept", "%v", err)
			rig.Must(t, <-over)
			got := s.resultOf("two")
			rig.Check(t, got.Answer == "re: two" && got.SessionID == before.SessionID && got.Continuity == conversations.Resumed, "%+v", got)
			again, err := s.Interrupt(t.Context(), "review", 2, byTest)
			storetest.WantKind(t, "a turn that has ended", err, fail.NotFound)
			rig.Check(t, again.Seq == 0, "%+v", again)
			rig.Check(t, strings.Join(s.Texts(), "|") == "before|one|two", "claude heard %q", s.Texts())
		})
	}
}

// Nothing runs where nothing was asked, where all is answered, where a turn waits to be run, and where one is held.
func TestInterruptWithoutATurnThatRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	refuses := func(what string, kind fail.Kind) {
		t.Helper()
		_, err := s.Interrupt(t.Context(), "review", 0, byTest)
		storetest.WantKind(t, what, err, kind)
	}
	refuses("no conversation", fail.NotFound)
	s.mustAsk("one")
	refuses("all is answered", fail.NotFound)
	s.accept("two")
	refuses("a turn that waits to be run", fail.NotFound)
	s.Answer(headlesstest.Failing(turn.Authentication))
	_, err := s.Drain(t.Context(), "review")
	storetest.WantKind(t, "the turn", err, fail.Held)
	refuses("a turn that is held", fail.Held)
	rig.Check(t, s.state().Open[0].Stop == nil, "it was stopped: %+v", s.state().Open)
}

// A turn that has yet to begin is stopped by its number, and claude never hears it.
func TestATurnIsStoppedBeforeItBegins(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.accept("one", "two")
	_, err := s.Interrupt(t.Context(), "review", 2, byTest)
	storetest.WantKind(t, "a turn behind another", err, fail.Conflict)
	stopped, err := s.Interrupt(t.Context(), "review", 1, byTest)
	rig.Check(t, err == nil && stopped.Class == string(turn.Interrupted) && stopped.Attempts == 0, "%+v, %v", stopped, err)
	_, err = s.Drain(t.Context(), "review")
	rig.Check(t, err == nil && strings.Join(s.Texts(), "|") == "two", "claude heard %q; %v", s.Texts(), err)
}

// Of a turn that has ended in the meantime, not the one behind it is stopped.
func TestOnlyTheTurnThatIsMeantIsStopped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mustAsk("one")
	s.Go = make(chan struct{})
	s.Answer(turn.Outcome{Class: headlesstest.Waits, Answer: "re: two"})
	s.accept("two", "three")
	over := s.drain()
	rig.WaitFor(t, "claude hears it", func() (bool, string) { return len(s.Texts()) == 2, "" })
	for _, seq := range []int{1, 3} {
		_, err := s.InterruptRunning(t.Context(), "review", seq, byTest)
		storetest.WantKind(t, "a turn that does not run", err, fail.NotFound)
	}
	stopped, err := s.InterruptRunning(t.Context(), "review", 2, byTest)
	rig.Check(t, err == nil && stopped.Seq == 2 && stopped.Class == string(turn.Interrupted), "%+v, %v", stopped, err)
	rig.Must(t, <-over)
	rig.Equal(t, s.resultOf("three").Class, "", "class of the turn behind it")
}

// A turn that waits for a place is stopped there.
func TestATurnThatWaitsForAPlaceIsStopped(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for range turns.AtOnce() {
		release, err := s.Project.Store.ConversationTurns().Await(t.Context(), local.New().Halted, func() {})
		rig.Must(t, err)
		defer release()
	}
	s.accept("one")
	over := s.drain()
	rig.WaitFor(t, "it has the right to run", func() (bool, string) {
		unlock, err := s.Project.Store.Conversations().Of("review").TryTurn()
		rig.Must(t, err)
		if unlock != nil {
			unlock()
		}
		return unlock == nil, ""
	})
	stopped, err := s.Interrupt(t.Context(), "review", 0, byTest)
	rig.Check(t, err == nil && stopped.Error == byTest && len(s.Texts()) == 0, "%+v, %v; claude heard %q", stopped, err, s.Texts())
	rig.Must(t, <-over)
}

// An answer that comes in the moment of the stop is not lost, and the turn is said to have ended.
func TestAnAnswerInTheMomentOfTheStop(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	s.Respond = func(n int, text string) turn.Outcome {
		rig.Must(t, s.Project.Store.Conversations().Of("review").Stop(t.Context(), n, byTest, s.now))
		return turn.Outcome{Answer: "re: " + text}
	}
	got := s.mustAsk("one")
	if got.Class == "" { // otherwise the stop was faster
		rig.Check(t, got.Answer == "re: one" && (&Stopped{Result: got}).Words() == "had just answered turn 1", "%+v", got)
	} else {
		rig.Check(t, got.Class == string(turn.Interrupted), "%+v", got)
	}
	s.Answer()
	rig.Equal(t, s.mustAsk("two").Answer, "re: two", "the next turn")
}

// Of a turn whose runner was killed, its claude is ended, and the turn is not tried again. That also holds if the stop
// was killed right after it was written.
func TestATurnOfAKilledRunnerIsStopped(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(s *stage) (conversations.Result, error){
		"by its stop": func(s *stage) (conversations.Result, error) {
			stopped, err := s.Interrupt(s.Context(), "review", 0, byTest)
			return stopped.Result, err
		},
		"by the next runner": func(s *stage) (conversations.Result, error) {
			rig.Must(s.T, s.Project.Store.Conversations().Of("review").Stop(s.Context(), 2, byTest, s.now))
			_, err := s.Drain(s.Context(), "review")
			return s.resultOf("two"), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			first := s.mustAsk("one")
			s.accept("two")
			invocation := agent.NewInvocation()
			rig.Must(t, s.Project.Store.Conversations().Of("review").Begin(t.Context(), conversations.Start{
				Seq: 2, Attempt: 1, Invocation: invocation, Session: first.SessionID, Mode: conversations.Resumed, At: s.now,
			}))
			ended := s.claudeOf(invocation, first.SessionID)
			got, err := stop(s)
			rig.Check(t, err == nil && got.Class == string(turn.Interrupted) && got.Error == byTest && got.Attempts == 1, "%+v, %v", got, err)
			<-ended
			rig.Equal(t, s.mustAsk("three").SessionID, first.SessionID, "the session")
			s.mustHear("one", "three")
		})
	}
}

// A turn whose text is in the session before a reset does not bring that session back, when it is stopped in the new one or
// found to be answered.
func TestTheEndOfATurnDoesNotUndoAReset(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *stage, id agent.SessionID, textID string){
		"stopped": func(s *stage, id agent.SessionID, textID string) {
			s.WriteHeard(id, textID, "two")
			rig.Must(s.T, s.Project.Store.Conversations().Of("review").Stop(s.Context(), 2, byTest, s.now))
		},
		"answered": func(s *stage, id agent.SessionID, textID string) { s.WriteAnswered(id, textID, "two") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			first := s.mustAsk("one").SessionID
			s.accept("two")
			c := s.Project.Store.Conversations().Of("review")
			begin := func(attempt int, id agent.SessionID, mode string) agent.Invocation {
				invocation := agent.NewInvocation()
				rig.Must(t, c.Begin(t.Context(), conversations.Start{Seq: 2, Attempt: attempt, Invocation: invocation, Session: id, Mode: mode, At: s.now}))
				return invocation
			}
			before := begin(1, first, conversations.Resumed)
			_, err := s.Reset(t.Context(), "review", ReasonAsked, nil)
			rig.Must(t, err)
			begin(2, agent.NewSessionID(), conversations.New)
			end(s, first, turn.TextID(string(before), 2))
			_, err = s.Drain(t.Context(), "review")
			rig.Must(t, err)
			got := s.resultOf("two")
			rig.Check(t, s.state().Session.ID != first && got.SessionID == "" && got.Attempts == 2, "%+v, in %+v", got, s.state().Session)
		})
	}
}

// A stop that is written while its runner is between two looks is seen before the next attempt.
func TestAStoppedTurnIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Respond = func(n int, _ string) turn.Outcome {
		rig.Must(t, s.Project.Store.Conversations().Of("review").Stop(context.Background(), n, byTest, s.now))
		return headlesstest.Failing(turn.Overloaded)
	}
	got := s.mustAsk("one")
	rig.Check(t, got.Class == string(turn.Interrupted) && got.Error == byTest && got.Attempts == 1 && len(s.Texts()) == 1, "%+v", got)
	rig.Check(t, len(s.state().Open) == 0, "%+v", s.state())
}

// The line of a stop alone ends the turn that runs: who wrote it may have been killed right after. Several may stop it
// at once.
func TestTheLineOfAStopIsEnough(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(headlesstest.Failing(headlesstest.Waits))
	s.accept("one")
	over := s.drain()
	rig.WaitFor(t, "claude hears it", func() (bool, string) { return len(s.Texts()) == 1, "" })
	rig.Must(t, s.Project.Store.Conversations().Of("review").Stop(t.Context(), 1, byTest, s.now))
	results := make(chan conversations.Result, 2)
	for range 2 {
		go func() {
			r, err := s.Interrupt(t.Context(), "review", 0, "stopped by another")
			rig.Check(t, err == nil || fail.KindOf(err) == fail.NotFound, "%v", err) // it has ended by then
			results <- r.Result
		}()
	}
	rig.Must(t, <-over)
	for range 2 {
		r := <-results
		rig.Check(t, r.Seq == 0 || r.Error == byTest, "%+v", r)
	}
	rig.Equal(t, s.resultOf("one").Error, byTest, "who stopped it")
}

// Claude is told once that the text before was stopped if its transcript does not say so: it would go on with it.
func TestClaudeIsToldWhatWasStopped(t *testing.T) {
	t.Parallel()
	for name, isSaid := range map[string]bool{"said": true, "not said": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			id := s.mustAsk("one").SessionID
			s.Answer(headlesstest.Failing(headlesstest.Waits))
			s.accept("two")
			over := s.drain()
			rig.WaitFor(t, "claude hears it", func() (bool, string) { return len(s.Texts()) == 2, "" })
			_, err := s.Interrupt(t.Context(), "review", 0, byTest)
			rig.Must(t, err)
			rig.Must(t, <-over)
			textID := turn.TextID(string(s.state().Stopped.Starts[0].Invocation), 2)
			s.WriteHeard(id, textID, "two")
			if isSaid {
				s.WriteStopped(id, textID)
			}
			s.mustAsk("three")
			s.mustAsk("four")
			_, contexts := s.Got()
			const words = "The user has stopped the text before"
			rig.Check(t, strings.Contains(contexts[2], words) != isSaid && !strings.Contains(contexts[3], words), "%q", contexts)
		})
	}
}
