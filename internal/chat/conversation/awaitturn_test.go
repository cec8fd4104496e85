package conversation

import (
	"context"
	"testing"
	"time"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless/headlesstest"
)

// Who waits for a turn has its answer when it is there, and not when whoever runs the turns of the key has run
// all that came behind it.
func TestAnAnswerDoesNotWaitForTheTurnsBehindIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, id := range []string{"first", "second"} {
		rig.Must(t, second(s.Accept(t.Context(), "review", Say{Request: conversations.Request{ID: id, Text: id, At: s.now}, Meta: s.meta()})))
	}
	asked, begun := make(chan struct{}), make(chan struct{})
	s.Respond = func(n int, text string) turn.Outcome {
		if n == 1 {
			close(begun)
			<-asked
			return turn.Outcome{Answer: "re: " + text}
		}
		return turn.Outcome{Class: headlesstest.Waits}
	}
	draining, stop := context.WithCancel(t.Context())
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = s.Drain(draining, "review")
	}()
	<-begun
	time.AfterFunc(time.Millisecond, func() { close(asked) })
	got, err := s.Await(t.Context(), "review", "first")
	rig.Check(t, err == nil && got.Answer == "re: first", "%+v, %v", got, err)
	stop()
	<-drained
	s.waits.Range(func(any, any) bool { t.Error("a wait is left"); return false })
}

// A reset that waits for a turn changes what the conversation has by then, and not what it had before: what it may do may
// have been narrowed.
func TestAResetThatWaitsChangesWhatIsThere(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mustAsk("hello", func(r *conversations.Request) { r.Rights.PermissionMode = "acceptEdits" })
	c := s.Project.Store.Conversations().Of("review")
	unlock, err := c.TryTurn()
	rig.Must(t, err)
	over := make(chan error, 1)
	go func() {
		_, err := s.Reset(t.Context(), "review", ReasonAsked, func(m *conversations.Meta) error { m.SystemPrompt = "Be terse."; return nil })
		over <- err
	}()
	narrow := conversations.Rights{PermissionMode: "plan"}
	_, _, err = c.Permit(t.Context(), narrow)
	rig.Must(t, err)
	unlock()
	rig.Must(t, <-over)
	rig.Check(t, s.state().Meta.Rights == narrow && s.state().Meta.SystemPrompt == "Be terse.", "%+v", s.state().Meta)
}

// A text that failed is not gone on with in a conversation that was reset meanwhile: that one does not know it.
func TestATextThatFailedBeforeAResetIsSaidAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mustAsk("before")
	s.Answer(headlesstest.Failing(turn.Authentication))
	_, err := s.ask("hello")
	rig.Check(t, err != nil, "it was answered")
	_, err = s.Reset(t.Context(), "review", ReasonAsked, nil)
	rig.Must(t, err)
	rig.Must(t, s.Project.Store.Conversations().Of("review").Retry(t.Context(), 2))
	got, err := s.Await(t.Context(), "review", "id 2")
	rig.Check(t, err == nil && got.Answer == "re: hello", "%+v, %v", got, err)
}
