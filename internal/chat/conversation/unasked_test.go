package conversation

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/turns"
	"nbs-worker/internal/team/headless/headlesstest"
)

// begins makes the next answer come while a background task runs.
func (s *stage) begins(task string) {
	s.Respond = func(_ int, text string) turn.Outcome {
		s.Last().Work(task)
		return turn.Outcome{Answer: "re: " + text}
	}
}

// result is the recorded result of a turn, "" the last one.
func (s *stage) result(id string) conversations.Result {
	s.Helper()
	r, _, err := s.Project.Store.Conversations().Of("review").Result(id)
	rig.Must(s.T, err)
	return r
}

// recorded waits until the result of a turn is recorded, although its asker still waits.
func (s *stage) recorded(id string) {
	s.Helper()
	rig.WaitFor(s.T, "the result is recorded", func() (bool, string) { return s.result(id).ID == id, "" })
}

// A claude for one turn has a background task when it answers. The answer is recorded at once; what Claude says when the
// task has ended is given with it, and counts in what the conversation costs.
func TestAColdTurnHasItsFollowUp(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.begins("sleep 9")
	over := make(chan string, 2)
	s.Over = func(r conversations.Result) { over <- r.Answer }
	asked := make(chan conversations.Result)
	go func() { asked <- s.mustAsk("one", func(r *conversations.Request) { r.ID = "one" }) }()
	s.recorded("one")
	rig.Equal(t, <-over, "re: one", "what is told while the task runs")
	s.Last().Says("a", "It has slept.")
	s.Last().Says("b", "And woke up.")
	s.Last().Work()
	got := <-asked
	rig.Check(t, slices.Equal(got.FollowUps, []string{"It has slept.", "And woke up."}) && got.Notice == "" && *got.CostUSD == 1, "%+v", got)
	rig.Check(t, s.state().TotalUSD == 1 && len(s.state().Untold) == 0, "%+v", s.state())
	s.Respond = nil
	next := s.mustAsk("two")
	rig.Check(t, next.Answer == "re: two" && len(next.FollowUps) == 0 && next.Continuity == conversations.Resumed, "%+v", next)
}

// A turn that is answered leaves its place to another one, while its claude has a background task.
func TestABackgroundTaskHasNoPlace(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for range turns.AtOnce() - 1 {
		release, err := s.Project.Store.ConversationTurns().Await(t.Context(), local.New().Halted, func() {})
		rig.Must(t, err)
		defer release()
	}
	s.begins("sleep 9")
	s.accept("one")
	over := s.drain()
	s.recorded("one")
	first := s.Last()
	s.Respond = nil
	got, err := s.askIn("other", "two", func(r *conversations.Request) { r.Timeout = 10 * time.Second })
	rig.Check(t, err == nil && got.Answer == "re: two", "%+v, %v", got, err)
	first.Work()
	rig.Must(t, <-over)
}

// What runs for longer than a turn may take is ended, and that is said; so is what runs when the asker is interrupted.
func TestABackgroundTaskThatWasEndedIsNamed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.begins("sleep 900")
	got := s.mustAsk("one", func(r *conversations.Request) { r.Timeout = time.Millisecond * 50 })
	rig.Check(t, got.Answer == "re: one" && got.Notice == "A background task was ended 0s after the answer: sleep 900.", "%+v", got)
	rig.Equal(t, s.Alive(), 0, "claudes that run")

	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := s.Accept(ctx, "review", Say{Request: conversations.Request{ID: "two", Text: "two", At: s.now}, Meta: s.meta()})
	rig.Must(t, err)
	go func() {
		s.recorded("two")
		cancel()
	}()
	got, err = s.Await(ctx, "review", "two")
	rig.Check(t, err == nil && got.Answer == "re: two" && strings.Contains(got.Notice, "sleep 900"), "%+v, %v", got, err)
}

// A claude that stays says something by itself: it belongs to the turn before, also while the next text waits for its
// answer, and a chat is to be told.
func TestAWarmClaudeSpeaksByItself(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	var added int
	s.IsChat, s.Added = func(conversations.Key) bool { return true }, func(conversations.Key) { added++ }
	one := s.mustAsk("one")
	s.Last().Says("a", "after one")
	s.Respond = func(_ int, text string) turn.Outcome {
		s.Last().Says("b", "still after one")
		return turn.Outcome{Answer: "re: " + text}
	}
	two := s.mustAsk("two")
	s.Last().Says("no words", "")
	s.Last().Says("c", "after two")
	rig.Check(t, len(s.Launches()) == 1 && two.Answer == "re: two", "%+v", two)
	rig.Same(t, "after one", []string{"after one", "still after one"}, s.result(one.ID).FollowUps)
	rig.Same(t, "after two", []string{"after two"}, s.result(two.ID).FollowUps)
	var untold []string
	for _, u := range s.state().Untold {
		untold = append(untold, u.Text)
	}
	rig.Check(t, slices.Equal(untold, []string{"after one", "still after one", "after two"}) && added == 4 && s.state().Heard == 1, "%q, %d", untold, added)
	rig.Must(t, s.Project.Store.Conversations().Of("review").Delivered(t.Context(), "b"))
	rig.Check(t, len(s.state().Untold) == 2 && s.state().Untold[1].ID == "c" && s.state().TotalUSD == 2, "%+v", s.state())
}

// A claude with a background task is not unused; after an hour it is ended, and the chat is told of it.
func TestAWarmClaudeThatWorksIsKept(t *testing.T) {
	t.Parallel()
	s := warm(t, 1)
	s.IsChat = func(conversations.Key) bool { return true }
	s.begins("npm run dev")
	one := s.mustAsk("one")
	s.now = s.now.Add(time.Hour + time.Minute) // the idle limit
	s.Respond = nil
	_, err := s.askIn("other", "two") // one claude at most: the one that works is kept
	rig.Must(t, err)
	rig.Equal(t, s.Warm.Len(), 1, "claudes")
	s.Warm.Trim(t.Context())
	rig.Check(t, s.result(one.ID).Notice == "", "%+v", s.result(one.ID))
	s.now = s.now.Add(5 * time.Hour)
	s.Warm.Trim(t.Context())
	rig.Equal(t, s.Warm.Len(), 0, "claudes")
	got := s.result(one.ID)
	rig.Check(t, got.Notice == "A background task was ended 6h1m0s after the answer: npm run dev." && len(s.state().Untold) == 1, "%+v", got)
}

// A runner was killed while its claude had a background task: what that claude said afterwards is told with the next
// answer, once. What was heard is not told again.
func TestWhatWasNotHeardIsTold(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Respond = func(_ int, text string) turn.Outcome {
		s.Last().Work("sleep 9")
		s.Last().Says("a", "heard")
		s.Last().Work()
		return turn.Outcome{Answer: "re: " + text}
	}
	one := s.mustAsk("one")
	rig.Same(t, "what was heard", []string{"heard"}, one.FollowUps)
	s.Respond = nil
	s.Last().Writes("a", "heard")
	s.Last().Writes("b", "not heard")
	two := s.mustAsk("two")
	rig.Check(t, two.Answer == "re: two" && two.Notice == "Claude said by itself after the last answer: not heard", "%+v", two)
	rig.Same(t, "what is recorded", []string{"heard", "not heard"}, s.result(one.ID).FollowUps)
	three := s.mustAsk("three")
	rig.Check(t, three.Notice == "", "told again: %+v", three)
}

// What Claude said by itself is told once, also if the next text never reached the transcript, or the session was left
// for a while.
func TestWhatWasHeardIsNotToldAgain(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(s *stage){
		"a turn that failed": func(s *stage) {
			s.Answer(turn.Outcome{Class: headlesstest.NeverWrote, Detail: "no"})
			s.mustAsk("two")
		},
		"a turn that was not run": func(s *stage) {
			s.mustAsk("two", func(r *conversations.Request) { r.DailyLimit = 0.01 })
		},
		"another session": func(s *stage) {
			_, err := s.Reset(s.Context(), "review", ReasonAsked, nil)
			rig.Must(s.T, err)
			s.mustAsk("two")
			_, err = s.Restore(s.Context(), "review", "")
			rig.Must(s.T, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.Respond = func(_ int, text string) turn.Outcome {
				s.Last().Work("sleep 9")
				s.Last().Says("a", "heard")
				s.Last().Work()
				return turn.Outcome{Answer: "re: " + text}
			}
			rig.Same(t, "what was heard", []string{"heard"}, s.mustAsk("one").FollowUps)
			s.Last().Writes("a", "heard")
			s.Respond = nil
			between(s)
			next := s.mustAsk("three")
			rig.Check(t, next.Class == "" && next.Notice == "", "%+v", next)
		})
	}
}

// That a background task was ended is said once, also if the session was left in between.
func TestWhatWasEndedIsNotSaidAgainAfterAReturn(t *testing.T) {
	t.Parallel()
	for _, between := range []string{"", "two"} {
		s := warm(t, 4)
		s.begins("npm run dev")
		one := s.mustAsk("one")
		s.Respond = nil
		_, err := s.Reset(t.Context(), "review", ReasonAsked, nil)
		rig.Must(t, err)
		rig.Check(t, strings.Contains(s.result(one.ID).Notice, "npm run dev"), "%+v", s.result(one.ID))
		if between != "" {
			s.mustAsk(between)
		}
		_, err = s.Restore(t.Context(), "review", "")
		rig.Must(t, err)
		s.Respond = func(_ int, text string) turn.Outcome {
			s.Last().Lost()
			return turn.Outcome{Answer: "re: " + text}
		}
		got := s.mustAsk("three")
		rig.Check(t, got.SessionID == one.SessionID && got.Notice == "", "%+v", got)
	}
}
