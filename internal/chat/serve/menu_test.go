package serve

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// A chat lists its sessions, names them, goes back to one by its name or its button, and does it once for a message
// that comes twice.
func TestAChatGoesBackToASession(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	chats := &Chats{Server: New(s.engine(), func(string, ...any) {}), Notes: s.store.Deliveries()}
	const key = "telegram:1"
	text, choices, err := chats.Sessions(t.Context(), key)
	rig.Check(t, err == nil && text == nothingSaid && len(choices) == 0, "%q, %v, %v", text, choices, err)
	of := s.store.Conversations().Of(key)
	first, second := agent.NewSessionID(), agent.NewSessionID()
	for i, id := range []agent.SessionID{first, second} {
		rig.Must(t, of.Adopt(t.Context(), conversations.Meta{Cwd: t.TempDir()}, id, true))
		text, err = chats.Rename(t.Context(), key, []string{"Holiday", "Work"}[i])
		rig.Check(t, err == nil && strings.Contains(text, "is called"), "%q, %v", text, err)
	}
	text, choices, err = chats.Sessions(t.Context(), key)
	rig.Check(t, err == nil && strings.HasPrefix(text, "Now: Work.\n1. Holiday, until ") && len(choices) == 1 && choices[0].Command == "/sessions "+string(first), "%q, %v, %v", text, choices, err)
	for range 2 { // the second time it is the same update again
		text, err = chats.Back(t.Context(), key, "telegram:77", "")
		rig.Check(t, err == nil && strings.HasPrefix(text, "Back in Holiday"), "%q, %v", text, err)
	}
	text, err = chats.Back(t.Context(), key, "telegram:78", "work")
	rig.Check(t, err == nil && strings.HasPrefix(text, "Back in Work"), "%q, %v", text, err)
	_, err = chats.Server.Engine.Reset(t.Context(), key, "it was reset", nil)
	rig.Must(t, err)
	text, err = chats.Back(t.Context(), key, "telegram:77", "") // once more, after a reset
	rig.Check(t, err == nil && text == "Back in a new conversation.", "%q, %v", text, err)
	_, err = chats.Server.Engine.Restore(t.Context(), key, "")
	rig.Must(t, err)
	text, err = chats.Back(t.Context(), key, "telegram:79", "school")
	rig.Check(t, err == nil && strings.HasPrefix(text, "I cannot go back: "), "%q, %v", text, err)
	state, err := of.State()
	rig.Check(t, err == nil && state.Session.ID == second, "%+v, %v", state.Session, err)
}

// A chat chooses its model, and the bot's own comes back with default; usage names cost and limit.
func TestAChatChoosesItsModelAndSeesItsCost(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	chats := &Chats{Server: New(s.engine(), func(string, ...any) {}), Notes: s.store.Deliveries(), DailyLimit: 5}
	const key = "telegram:1"
	rig.Must(t, s.store.Conversations().Of(key).Adopt(t.Context(), conversations.Meta{Cwd: t.TempDir(), Model: "sonnet"}, agent.NewSessionID(), true))
	for _, c := range [][2]string{
		{"", "The model is sonnet."}, {"opsu", "The model stays: unknown model"}, {"opus", "The model of the next messages is opus."},
		{"", "The model is opus."}, {"default", "The model of the next messages is sonnet."},
	} {
		text, err := chats.ChooseModel(t.Context(), key, c[0])
		rig.Check(t, err == nil && strings.HasPrefix(text, c[1]), "/model %s: %q, %v", c[0], text, err)
	}
	text, err := chats.Usage(t.Context(), key)
	rig.Check(t, err == nil && strings.Contains(text, "Today: $0.00 of $5.00"), "%q, %v", text, err)
}
