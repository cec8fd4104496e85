package observer

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// chat makes a keyed conversation, whose memory is on, in a new session.
func (s *stage) chat(key conversations.Key) (*conversations.Conversation, agent.SessionID) {
	s.Helper()
	c, id := s.Worker.Project.Store.Conversations().Of(key), agent.NewSessionID()
	rig.Must(s.T, c.Adopt(s.Context(), conversations.Meta{Cwd: "/", ConfigDir: s.Config}, id, true))
	_, err := c.Observe(s.Context(), true)
	rig.Must(s.T, err)
	return c, id
}

// answered is a turn of a conversation, with what the hook gave to claude, and its runner's announcement.
func (s *stage) answered(key string, id agent.SessionID, text, context string) {
	s.Helper()
	s.prompt(id, text)
	s.write(id, `"type":"attachment","attachment":{"type":"hook_success","hookEvent":"UserPromptSubmit","content":%q,"stdout":%[1]q}`, context)
	s.reply(id, "done: "+text)
	s.announce(agent.OfConversation(key), id)
}

// A keyed conversation is observed as an agent's is, also after a reset: under its key, each turn once, and without
// what it was told beside the user's words.
func TestConversationsAreObserved(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	c, first := s.chat("telegram:1")
	_, other := s.chat("telegram:1/5")
	quiet, off := s.chat("review")
	_, err := quiet.Observe(t.Context(), false)
	rig.Must(t, err)
	s.answered("telegram:1", first, "one", "a memory of before")
	s.answered("telegram:1/5", other, "topic", "")
	s.answered("review", off, "secret", "")
	_, err = c.Reset(t.Context(), "asked for", nil)
	rig.Must(t, err)
	done := s.once()
	rig.Check(t, done.Turns == 2 && len(done.Waiting) == 0, "%+v", done)
	rig.Equal(t, s.kept.titles(), "conversation:telegram:1/1/noted 1 conversation:telegram:1/5/1/noted 2", "observations")
	shown := strings.Join(s.Texts(), "")
	rig.Check(t, strings.Contains(shown, "Turn 1 of the conversation telegram:1. ") && !strings.Contains(shown, "a memory of before") && !strings.Contains(shown, "secret"), "it was shown %s", shown)

	second := agent.NewSessionID()
	rig.Must(t, c.Adopt(t.Context(), conversations.Meta{}, second, true))
	s.answered("telegram:1", second, "two", "")
	again := New(s.Worker.Project, s.kept) // as after a kill
	again.Start = s.Claudes.Start
	done, err = again.Once(t.Context())
	rig.Check(t, err == nil && done.Turns == 1, "%+v, %v", done, err)
	rig.Check(t, strings.HasSuffix(s.kept.titles(), " conversation:telegram:1/1/noted 3"), "%s", s.kept.titles())
	rig.Check(t, s.kept.observed[second].MemoryID != s.kept.observed[first].MemoryID && s.kept.observed[off] == nil, "%+v", s.kept.observed)
	s.now = s.now.Add(2 * hopeless)
	s.once()
	rig.Equal(t, s.announced(), 0, "announcements")
}

// An observer must not be in a conversation's own session.
func TestASessionOfAConversationIsNoObserver(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.agent("alpha")
	_, chats := s.chat("telegram:1")
	s.turn("alpha", r.SessionID, "one")
	s.Claudes.Stray = chats
	done, err := s.Once(t.Context())
	rig.Check(t, err != nil && strings.Contains(err.Error(), "which is an agent's or a chat's") && done.Turns == 0 && len(s.kept.stored) == 0, "%+v, %v", done, err)
}

// What an agent announces of a conversation that does not exist, or has no memory, does nothing, and does not stay.
func TestForeignAnnouncementsOfConversations(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.announce(agent.OfConversation("nowhere"), agent.NewSessionID())
	s.announce(agent.OfConversation(""), agent.NewSessionID())
	s.now = s.now.Add(2 * hopeless)
	done := s.once()
	rig.Check(t, done.Turns == 0 && s.announced() == 0, "%+v, %d announcements are left", done, s.announced())
}
