package conversation

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless"
	"nbs-worker/internal/team/headless/headlesstest"
)

func warm(t *testing.T, most int) *stage {
	s := newStage(t)
	s.Warm = &headless.Pool{Most: most, Memory: 1 << 50, Idle: time.Hour, Now: func() time.Time { return s.now }}
	t.Cleanup(func() { s.Warm.Close(context.Background()) })
	return s
}

// The next turn of a conversation is taken by the same process; another model needs another one.
func TestAWarmTurnStartsNothing(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	s.mustAsk("one")
	got := s.mustAsk("two")
	rig.Check(t, got.Continuity == conversations.Resumed && got.Answer == "re: two", "%+v", got)
	rig.Check(t, len(s.Launches()) == 1 && s.Warm.Len() == 1, "%d processes were started", len(s.Launches()))
	s.mustAsk("three", func(r *conversations.Request) { r.Model = "haiku" })
	rig.Check(t, len(s.Launches()) == 2 && s.Warm.Len() == 1, "%d processes were started, %d are warm", len(s.Launches()), s.Warm.Len())
}

// A process that has the hook takes turns with a context and without one in turn, and tells each its own.
func TestAWarmProcessWithAHookTakesAllTurns(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	program, err := exec.LookPath("env") // which prints of which conversation it is asked
	rig.Must(t, err)
	withContext := func(r *conversations.Request) { r.ContextCmd = program }
	s.mustAsk("one")
	s.mustAsk("two", withContext)
	rig.Equal(t, len(s.Launches()), 2, "processes, of which the second has the hook")
	got := s.mustAsk("three")
	rig.Check(t, got.Notice == "", "a turn without a context says %q", got.Notice)
	id := s.mustAsk("four", withContext).SessionID
	rig.Equal(t, len(s.Launches()), 2, "processes after turns with a context and without one")
	rig.Equal(t, strings.Count(storetest.Read(t, s.Transcript(id)), "NBS_CONVERSATION=review"), 2*2, "contexts, each of which stands twice in its record")
}

// While a process is warm, nobody else gets its conversation; when it has ended, anybody does.
func TestAWarmProcessHasTheLease(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	id := s.mustAsk("one").SessionID
	cold := New(s.Project)
	cold.Start, cold.dying = s.Claudes.Start, brief
	say := Say{Request: conversations.Request{ID: "cold", Text: "two", At: s.now}, Meta: s.meta()}
	rig.Must(t, second(cold.Accept(t.Context(), "review", say)))
	_, err := cold.Await(t.Context(), "review", "cold")
	rig.Check(t, fail.KindOf(err) == fail.Conflict, "a cold turn beside a warm process on %s: %v", id, err)
	s.Warm.Close(t.Context())
	cold.dying = dyingGrace
	got, err := cold.Await(t.Context(), "review", "cold")
	rig.Check(t, err == nil && got.SessionID == id, "after its end: %+v, %v", got, err)
}

// An answer is there before another conversation's process, which has to go for this one's, has ended.
func TestAnAnswerDoesNotWaitForAnothersProcess(t *testing.T) {
	t.Parallel()
	s := warm(t, 1)
	s.mustAsk("one")
	s.now = s.now.Add(time.Minute) // so that the first process is the one used least recently
	closing := make(chan struct{})
	s.OnClose = func(*headlesstest.Claude) { <-closing }
	answered := make(chan conversations.Result, 2)
	s.Over = func(r conversations.Result) { answered <- r }
	ended := make(chan error, 1)
	go func() { _, err := s.askIn("other", "hello"); ended <- err }()
	rig.Eventually(t, "it is answered", func() bool { return len(answered) == 1 })
	close(closing)
	rig.Must(t, <-ended)
	rig.Equal(t, s.Warm.Len(), 1, "warm processes")
	s.mustAsk("two")
	rig.Equal(t, len(s.Launches()), 3, "processes: the first one is not the one that stayed")
}

// Those that were not used for longest go when there are too many, and all that are idle for long.
func TestThePoolIsBounded(t *testing.T) {
	t.Parallel()
	s := warm(t, 2)
	for i, key := range []conversations.Key{"a", "b", "c", "c", "a"} {
		s.now = s.now.Add(time.Minute)
		_, err := s.askIn(key, "hello")
		rig.Must(t, err)
		rig.Equal(t, len(s.Launches()), []int{1, 2, 3, 3, 4}[i], "processes after turn %d", i+1)
	}
	rig.Equal(t, s.Warm.Len(), 2, "warm processes")
	s.now = s.now.Add(2 * time.Hour)
	s.Warm.Trim(t.Context())
	rig.Check(t, s.Warm.Len() == 0, "%d are still warm", s.Warm.Len())
}

// A process that has ended is not asked.
func TestAProcessThatHasEndedIsReplaced(t *testing.T) {
	t.Parallel()
	s := warm(t, 4)
	id := s.mustAsk("one").SessionID
	s.End()
	got := s.mustAsk("two")
	rig.Check(t, got.SessionID == id && len(s.Launches()) == 2, "%+v, after %d starts", got, len(s.Launches()))
}
