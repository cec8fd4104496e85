package conversation

import (
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// A turn of a conversation whose memory is on is announced to the observer, with the size of what was written; a turn
// outside of the conversation is not. A reset changes nothing about that, whatever settings come with it.
func TestTurnsAreAnnouncedToTheMemory(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mustAsk("before")
	was, err := s.Project.Store.Conversations().Of("review").Observe(t.Context(), true)
	rig.Check(t, err == nil && !was, "it was on: %v", err)
	s.mustAsk("apart", func(r *conversations.Request) { r.Isolated = true })
	first := s.mustAsk("one")
	s.now = s.now.Add(time.Second)
	_, err = s.Reset(t.Context(), "review", ReasonAsked, func(m *conversations.Meta) error { *m = s.meta(); return nil })
	rig.Must(t, err)
	second := s.mustAsk("two")
	was, err = s.Project.Store.Conversations().Of("review").Observe(t.Context(), false)
	rig.Check(t, err == nil && was, "it was off: %v", err)
	s.mustAsk("after")

	all, err := s.Project.Store.Spool().List()
	rig.Must(t, err)
	rig.Equal(t, len(all), 2, "announcements")
	for i, of := range []conversations.Result{first, second} {
		rig.Check(t, all[i].Handle == agent.OfConversation("review") && all[i].SessionID == of.SessionID && all[i].Size > 0, "%+v", all[i])
	}
}
