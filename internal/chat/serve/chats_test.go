package serve

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/remote"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
)

// A conversation that does not have the bot's system prompt and model begins anew, and its next answer says so.
func TestAChatHasTheBotsPromptAndModel(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	server := New(s.engine(), func(string, ...any) {})
	for key, c := range map[conversations.Key]struct {
		chats Chats
		reset bool
	}{
		"telegram:1": {Chats{Prompt: "You are Bubba."}, true},
		"telegram:2": {Chats{Model: "opus"}, true},
		"telegram:3": {Chats{Prompt: "You are one.", Model: "sonnet"}, false},
		"telegram:4": {Chats{}, false}, // the bot has none of its own
	} {
		of := s.store.Conversations().Of(key)
		rig.Must(t, of.Adopt(t.Context(), conversations.Meta{Cwd: t.TempDir(), SystemPrompt: "You are one.", Model: "sonnet"}, agent.NewSessionID(), true))
		c.chats.Server, c.chats.Notes = server, s.store.Deliveries()
		rig.Must(t, c.chats.Accept(t.Context(), bridge.Incoming{Key: string(key), ID: string(key) + ":77", Text: "hello"}))
		state, err := of.State()
		rig.Must(t, err)
		rig.Check(t, len(state.Previous) == 1 == c.reset, "%s: %+v", key, state)
		rig.Check(t, !c.reset || state.TellReset != nil && state.TellReset.Reason == reasonOther, "%s: %+v", key, state.TellReset)
		rig.Check(t, c.chats.Prompt == "" || state.Meta.SystemPrompt == c.chats.Prompt, "%s has %q", key, state.Meta.SystemPrompt)
	}
}

// The status of a chat names the answers that it did not get.
func TestStatusNamesAnswersThatWereNotTold(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	chats := &Chats{Server: New(s.engine(), func(string, ...any) {}), Notes: s.store.Deliveries()}
	for _, id := range []string{"telegram:77", "telegram:78"} {
		rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: "telegram:1", ID: id, Text: "hello"}))
	}
	rig.Must(t, chats.NoteDelivered(t.Context(), "telegram:1", "telegram:77", ""))
	rig.Must(t, chats.NoteDelivered(t.Context(), "telegram:1", "telegram:78", "Telegram refused a message: Bad Request"))
	status, err := chats.Status(t.Context(), "telegram:1")
	const lost = "The answer to message 2 could not be delivered: Telegram refused a message: Bad Request."
	rig.Check(t, err == nil && strings.Contains(status, lost) && strings.Count(status, "could not be delivered") == 1, "%q, %v", status, err)
}

// A claude that is silent keeps neither a chat nor a schedule for longer than the operator says.
func TestTurnsOfChatsAndSchedulesEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	server := New(s.engine(), func(string, ...any) {})
	chats := &Chats{Server: server, Notes: s.store.Deliveries(), Silence: time.Hour}
	rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: "telegram:1", ID: "telegram:77", Text: "hello"}))
	asked, err := s.store.Conversations().Of("telegram:1").Request(1)
	rig.Check(t, err == nil && asked.Silence == time.Hour && asked.Timeout == 0, "of a chat: %+v, %v", asked, err)
	_, say, err := remote.Scheduled(server.Engine, schedule.Due{Entry: &schedule.Entry{Name: "morning", Prompt: "hello", Model: agent.Model("haiku"), Silence: time.Minute}})
	rig.Check(t, err == nil && say.Silence == time.Minute && say.Timeout == 0, "of a schedule: %+v, %v", say, err)
}

// What a chat has of an answer is known to the next bridge, beside what else is noted of the message.
func TestWhatAChatHasOfAnAnswerIsNoted(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	chats := &Chats{Server: New(s.engine(), func(string, ...any) {}), Notes: s.store.Deliveries()}
	const key, id = "telegram:1", "telegram:77"
	rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: key, ID: id, Text: "hello"}))
	rig.Must(t, chats.NoteShown(t.Context(), key, id, bridge.Shown{Sent: bridge.Sent{Message: "5"}}))
	again, err := chats.NoteTelling(t.Context(), key, id)
	rig.Check(t, err == nil && !again, "%t, %v", again, err)
	rig.Must(t, chats.NoteShown(t.Context(), key, id, bridge.Shown{Sent: bridge.Sent{Message: "5", Chat: "1"}, Parts: 1}))
	again, err = chats.NoteTelling(t.Context(), key, id)
	rig.Check(t, err == nil && again, "%t, %v", again, err)
	shown, err := chats.Shown(t.Context(), key, id)
	rig.Check(t, err == nil && shown == bridge.Shown{Sent: bridge.Sent{Message: "5", Chat: "1"}, Parts: 1}, "%+v, %v", shown, err)
	note, _, err := chats.Notes.Get(id)
	rig.Check(t, err == nil && note.Seq == 1 && note.Key == key, "%+v, %v", note, err)
}

// What is noted of a message by one goroutine is not lost to what another notes at the same time.
func TestNotesOfAMessageThatAreWrittenTogether(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	chats := &Chats{Server: New(s.engine(), func(string, ...any) {}), Notes: s.store.Deliveries()}
	const key, id = "telegram:1", "telegram:77"
	rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: key, ID: id, Text: "hello"}))
	for n := range int64(20) {
		rig.Must(t, chats.NoteDelivered(t.Context(), key, id, ""))
		var all sync.WaitGroup
		var telling, shown error
		all.Go(func() { _, telling = chats.NoteTelling(t.Context(), key, id) })
		all.Go(func() {
			shown = chats.NoteShown(t.Context(), key, id, bridge.Shown{Sent: bridge.Sent{Message: strconv.FormatInt(n, 10), Chat: "1"}})
		})
		all.Wait()
		rig.Must(t, errors.Join(telling, shown))
		note, _, err := chats.Notes.Get(id)
		rig.Check(t, err == nil && note.State == deliveries.Telling && note.Growing == deliveries.Number(strconv.FormatInt(n, 10)), "%+v, %v", note, err)
	}
}

// A family reads the status: it says what a message waits for, and no word of the operator's.
func TestStatusSaysWhatAMessageWaitsFor(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	chats := &Chats{Server: New(s.engine(), func(string, ...any) {}), Notes: s.store.Deliveries()}
	rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: "telegram:1", ID: "telegram:77", Text: "soup"}))
	status, err := chats.Status(t.Context(), "telegram:1")
	rig.Check(t, err == nil && strings.Contains(status, "Message 1 waits for its turn."), "%q, %v", status, err)
	for _, word := range []string{conversation.Dead, conversation.Later, conversation.Running, conversation.Queued} {
		rig.Check(t, waits[word] != "", "a message that is %s has no words", word)
	}
}
