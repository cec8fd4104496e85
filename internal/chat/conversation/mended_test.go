package conversation

import (
	"testing"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless/headlesstest"
)

// An answer shows that Claude is logged in: what waits for that in other conversations is tried now, and nothing else is.
func TestAnAnswerTakesUpWhatWaitsElsewhere(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	hastened := 0
	s.Hastened = func() { hastened++ }
	holds := map[conversations.Key]conversations.Held{
		"login":    {Class: string(turn.Authentication), Mends: true},
		"old":      {Class: string(turn.Authentication)},              // of an earlier version
		"other":    {Class: string(turn.Authentication), Mends: true}, // with another configuration of Claude
		"overload": {Class: string(turn.Overloaded), Mends: true},
		"open":     {Class: string(ClassInUse), Mends: true},
		"limit":    {Class: string(turn.Limit)},
		"person":   {Class: string(turn.Killed)},
	}
	hold := func(key conversations.Key, held conversations.Held) {
		held.At = s.now
		if held.Mends || held.Class == string(turn.Limit) {
			held.Until = s.now.Add(mendFirst)
		}
		rig.Must(t, s.Project.Store.Conversations().Of(key).Hold(t.Context(), 1, held))
	}
	for key, held := range holds {
		meta := s.meta()
		if key == "other" {
			meta.ConfigDir = t.TempDir()
		}
		rig.Must(t, second(s.Accept(t.Context(), key, Say{Request: conversations.Request{ID: "a", Text: "hello", At: s.now}, Meta: meta})))
		hold(key, held)
	}
	due := func() (keys []string) {
		for _, key := range []conversations.Key{"limit", "login", "old", "open", "other", "overload", "person"} {
			state, err := s.Project.Store.Conversations().Of(key).State()
			rig.Must(t, err)
			if held := state.Held(); !held.Until.IsZero() && !held.Until.After(s.now) {
				keys = append(keys, string(key))
			}
		}
		return keys
	}
	s.mustAsk("are you there?")
	rig.Same(t, "what is tried", []string{"login", "old"}, due())
	rig.Equal(t, hastened, 1, "how often the server is told")

	s.Answer(headlesstest.Failing(turn.Overloaded), headlesstest.Failing(turn.Overloaded), headlesstest.Failing(turn.Overloaded))
	s.queue("b", "again")
	for range attempts {
		until, err := s.Drain(t.Context(), "review")
		rig.Check(t, err == nil || fail.KindOf(err) == fail.Held, "%v", err)
		s.now = until
	}
	hold("overload", holds["overload"])
	s.now = s.state().Open[0].Held.Until
	_, err := s.Drain(t.Context(), "review")
	rig.Must(t, err)
	rig.Check(t, len(s.state().Open) == 0, "%+v", s.state().Open)
	state, err := s.Project.Store.Conversations().Of("overload").State()
	rig.Check(t, err == nil && !state.Held().Until.After(s.now), "after an answer that waited for the same: %+v, %v", state.Held(), err)
}
