package conversation

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
)

// The API refuses an empty text, and each request after it in whose conversation it stands.
func TestAnEmptyTextIsNotAccepted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, text := range []string{"", " \n\t "} {
		_, err := s.ask(text)
		storetest.WantKind(t, "an empty text", err, fail.BadInput)
	}
	rig.Check(t, len(s.Texts()) == 0, "claude heard %q", s.Texts())
}

// A turn whose tools ask its own conversation would wait for itself.
func TestATurnDoesNotAskItsOwnConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Respond = func(_ int, text string) turn.Outcome {
		within := agent.TurnVariable + "=" + agent.Variable(s.Launches()[len(s.Launches())-1].Env, agent.TurnVariable)
		project := *s.Project
		project.Env = append(slices.Clone(s.Project.Env), within)
		inner := New(&project)
		say := Say{Request: conversations.Request{ID: "inner", Text: "and you?", At: s.now}, Meta: s.meta()}
		_, _, err := inner.Accept(t.Context(), "review", say)
		storetest.WantKind(t, "its own conversation", err, fail.BadInput)
		rig.Must(t, second(inner.Accept(t.Context(), "other", say)))
		return turn.Outcome{Answer: text}
	}
	s.mustAsk("hello")
}

// Schedules run isolated turns for years: none leaves anything in the project but its result.
func TestAnIsolatedTurnLeavesNoLease(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	locks := filepath.Join(s.Project.Store.Project(), ".nbs", "locks")
	s.mustAsk("before")
	before := storetest.Names(t, locks)
	s.mustAsk("now", func(r *conversations.Request) { r.Isolated = true })
	rig.Equal(t, len(storetest.Names(t, locks)), len(before), "locks")
}

// Who lists what is open while turns are run sees one less, and no error.
func TestATurnThatEndsWhileItIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	rig.Must(t, second(s.Accept(t.Context(), "review", Say{Request: conversations.Request{ID: "a", Text: "hello", At: s.now}, Meta: s.meta()})))
	seen := s.state()
	_, err := s.Drain(t.Context(), "review")
	rig.Must(t, err)
	open, err := s.Open(&seen)
	rig.Must(t, err)
	rig.Check(t, len(open) == 0, "%+v", open)
}

// What is no text is refused before anything is accepted: it would block its conversation for good.
func TestWhatIsNoTextIsNotAccepted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for what, say := range map[string]Say{
		"a text":    {Request: conversations.Request{ID: "1", Text: "Gr\xfc\xdfe"}},
		"a prompt":  {Request: conversations.Request{ID: "1", Text: "hello"}, Meta: conversations.Meta{SystemPrompt: "\xff"}},
		"an id":     {Request: conversations.Request{ID: "\xff", Text: "hello"}},
		"a program": {Request: conversations.Request{ID: "1", Text: "hello", ContextCmd: "/bin/\xff"}},
		"a NUL":     {Request: conversations.Request{ID: "1", Text: "a\x00b"}},
	} {
		_, _, err := s.Accept(t.Context(), "review", say)
		rig.Check(t, fail.KindOf(err) == fail.BadInput, "%s: %v", what, err)
	}
	_, err := s.Project.Store.Conversations().Of("review").State()
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "something was accepted: %v", err)
}
