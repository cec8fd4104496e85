package conversation

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
)

// begunWith has a turn answered by a claude that then has a background task. The channel has its result when nothing goes
// on after it.
func (s *stage) begunWith(task string) chan conversations.Result {
	s.Helper()
	s.begins(task)
	asked := make(chan conversations.Result, 1)
	go func() { asked <- s.mustAsk("one", func(r *conversations.Request) { r.ID = "one" }) }()
	s.recorded("one")
	rig.WaitFor(s.T, "its claude goes on", func() (bool, string) { return s.Lingers(ptr(s.state())) != nil, "" })
	return asked
}

// What goes on after an answer is stopped, and the asker, who has the answer, is told what was ended. The text that
// waits behind it is answered.
func TestWhatGoesOnAfterAnAnswerIsStopped(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*stage{"cold": newStage(t), "warm": warm(t, 4)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := s.begunWith("sleep 900")
			s.Respond = nil
			if name == "cold" {
				s.accept("two")
			}
			const words = "Claude had answered; its background task was ended: sleep 900."
			stopped, err := s.Interrupt(t.Context(), "review", 0, byTest)
			rig.Check(t, err == nil && stopped.Answer == "re: one" && stopped.After == words, "%+v, %v", stopped, err)
			rig.Equal(t, stopped.Words(), "has ended what went on after turn 1. "+strings.TrimSuffix(words, "."), "the words")
			got := <-asked
			if name == "cold" { // the other asker did not wait for it
				rig.Equal(t, got.Notice, words, "the notice")
			}
			rig.Equal(t, s.result("one").Notice, words, "the recorded notice")
			if name == "cold" {
				got, err := s.Await(t.Context(), "review", "two")
				rig.Check(t, err == nil && got.Answer == "re: two", "%+v, %v", got, err)
			}
			_, err = s.Interrupt(t.Context(), "review", 0, byTest)
			storetest.WantKind(t, "a second stop", err, fail.NotFound)
			three := s.mustAsk("three")
			rig.Check(t, three.Answer == "re: three" && three.Notice == "" && three.Continuity == conversations.Resumed, "%+v", three)
			rig.Equal(t, s.result("one").Notice, words, "the notice after all")
		})
	}
}

// What goes on keeps no turn from being given up: the turn that waits for it is not begun.
func TestATurnBehindWhatGoesOnIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	asked := s.begunWith("sleep 900")
	s.Respond = nil
	s.accept("two", "three")
	state := s.state()
	err := s.errHalted(&state, &state.Open[0], time.Minute)
	rig.Check(t, strings.Contains(err.Error(), "the claude of turn 1 has answered") && strings.Contains(strings.Join(fail.HintsOf(err), ""), "nbs-worker conversation interrupt "), "%v", err)
	rig.Equal(t, s.Awaited(&state), "the background tasks of turn 1, which is answered; --now ends them", "what a reset waits for")
	over := s.drain()
	_, err = s.InterruptRunning(t.Context(), "review", 3, byTest)
	storetest.WantKind(t, "a turn that is not next", err, fail.NotFound)
	stopped, err := s.InterruptRunning(t.Context(), "review", 2, byTest)
	rig.Check(t, err == nil && stopped.Seq == 2 && stopped.Class == string(turn.Interrupted), "%+v, %v", stopped, err)
	rig.Check(t, strings.Contains((<-asked).Notice, "sleep 900"), "what went on is not named")
	rig.Must(t, <-over)
	s.mustHear("one", "three")
}

// An answer is known before its claude is kept for the next text. A stop in between ends what goes on, and before the
// text that waits can take that claude.
func TestAStopRightAfterTheAnswer(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	s.begins("sleep 900")
	type ending struct {
		Stopped
		err error
	}
	over := make(chan ending, 1)
	s.Over = func(r conversations.Result) {
		if r.ID != "one" {
			return
		}
		go func() {
			stopped, err := s.Interrupt(t.Context(), "review", 0, byTest)
			over <- ending{stopped, err}
		}()
		rig.WaitFor(t, "the stop is recorded or refused", func() (bool, string) {
			left := ptr(s.state()).Left(1)
			return len(over) > 0 || left != nil && left.Stop != nil, ""
		})
		s.Respond = nil
		s.accept("two")
	}
	s.accept("one")
	rig.Must(t, <-s.drain())
	end := <-over
	const words = "Claude had answered; its background task was ended: sleep 900."
	rig.Check(t, end.err == nil && end.Answer == "re: one" && end.After == words, "%+v, %v", end.Stopped, end.err)
	rig.Equal(t, s.result("one").Notice, words, "the notice")
	rig.Check(t, s.result("two").Answer == "re: two" && len(s.Launches()) == 2, "%+v after %d launches", s.result("two"), len(s.Launches()))
}

// A claude without anything left to do is not ended: nothing goes on.
func TestAClaudeThatIsDoneIsNotStopped(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	<-s.begunWith("sleep 9")
	s.Last().Work()
	_, err := s.Interrupt(t.Context(), "review", 0, byTest)
	storetest.WantKind(t, "nothing goes on", err, fail.NotFound)
	_, err = s.Interrupt(t.Context(), "review", 1, byTest)
	storetest.WantKind(t, "nothing goes on after the turn", err, fail.NotFound)
	rig.Equal(t, s.Alive(), 1, "claudes")
	rig.Must(t, s.Project.Store.Conversations().Of("review").Stop(t.Context(), 1, byTest, s.now)) // by a process that cannot know it
	rig.WaitFor(t, "the stop is over", func() (bool, string) { return len(s.state().Lingering) == 0, "" })
	rig.Equal(t, s.Alive(), 1, "claudes after a stop")
	rig.Check(t, s.mustAsk("two").Notice == "" && len(s.Launches()) == 1, "the next text has another claude")
}

// A message that was accepted while a claude goes on is what a stop is for: what goes on does not keep it waiting, so it
// would be answered although it was to be stopped. One that is held does not run.
func TestAStopIsForTheNewestMessage(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	<-s.begunWith("sleep 900")
	s.accept("two")
	current := s.Current(ptr(s.state()))
	rig.Check(t, current.Seq == 2, "%+v", current)
	rig.Equal(t, s.Awaited(ptr(s.state())), "", "what a reset waits for")
	stopped, err := s.Interrupt(t.Context(), "review", 2, byTest)
	rig.Check(t, err == nil && stopped.Class == string(turn.Interrupted), "%+v, %v", stopped, err)
	current = s.Current(ptr(s.state()))
	rig.Check(t, s.Alive() == 1 && current != nil && current.Seq == 1, "%+v", current)
	s.accept("three")
	rig.Must(t, s.Project.Store.Conversations().Of("review").Hold(t.Context(), 3, conversations.Held{Class: "unknown", At: s.now}))
	rig.Equal(t, s.Current(ptr(s.state())).Seq, 1, "what a stop is for while a turn is held")
}

// A stop whose process was killed right after the line still counts, and one that comes again changes nothing.
func TestTheLineOfAStopEndsWhatGoesOn(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	<-s.begunWith("sleep 900")
	for range 2 {
		_ = s.Project.Store.Conversations().Of("review").Stop(t.Context(), 1, byTest, s.now) // the second may come too late
	}
	rig.WaitFor(t, "it is ended", func() (bool, string) { return len(s.state().Lingering) == 0, "" })
	one, _, err := s.Project.Store.Conversations().Of("review").Recorded(t.Context(), "one") // the state may be ahead of the result
	rig.Must(t, err)
	rig.Check(t, s.Alive() == 0 && strings.HasPrefix(one.Notice, "Claude had answered; "), "%+v", one)
}

// A text that is asked while a claude goes on is a turn of that claude: then a stop is for the turn.
func TestATextTakesOverWhatGoesOn(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	<-s.begunWith("sleep 900")
	s.mustAsk("two")
	left := s.Lingers(ptr(s.state()))
	rig.Check(t, left != nil && left.Seq == 2, "%+v", left)
	_, err := s.Interrupt(t.Context(), "review", 1, byTest)
	storetest.WantKind(t, "the turn before", err, fail.NotFound)
	stopped, err := s.Interrupt(t.Context(), "review", 0, byTest)
	rig.Check(t, err == nil && stopped.Seq == 2 && strings.Contains(stopped.After, "sleep 900"), "%+v, %v", stopped, err)
}

// A claude whose process was killed after the answer goes on by itself: a stop ends it. Its chat is told of that by
// itself if a bridge serves it here; otherwise who stops it must say so.
func TestWhatAKilledRunnerHasLeftIsStopped(t *testing.T) {
	t.Parallel()
	for name, isChat := range map[string]func(conversations.Key) bool{"no chat": nil, "chat": func(conversations.Key) bool { return true }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.IsChat = isChat
			s.stopsALeftClaude(t, isChat != nil)
		})
	}
}

func (s *stage) stopsALeftClaude(t *testing.T, told bool) {
	t.Helper()
	first := s.mustAsk("one").SessionID
	s.accept("two")
	c := s.Project.Store.Conversations().Of("review")
	invocation := agent.NewInvocation()
	rig.Must(t, c.Begin(t.Context(), conversations.Start{Seq: 2, Attempt: 1, Invocation: invocation, Session: first, Mode: conversations.Resumed, At: s.now}))
	rig.Must(t, c.Finish(t.Context(), conversations.Result{Seq: 2, Answer: "yes", SessionID: first, Lingers: true, At: s.now}))
	ended := s.claudeOf(invocation, first)
	stopped, err := s.Interrupt(t.Context(), "review", 0, byTest)
	rig.Check(t, err == nil && stopped.Told == told && stopped.After == "Claude had answered; it was ended before it had said what came of its background tasks.", "%+v, %v", stopped, err)
	<-ended
	rig.Equal(t, s.mustAsk("three").SessionID, first, "the session")
}
