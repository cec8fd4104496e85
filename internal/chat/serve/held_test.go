package serve

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/schedules"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless/headlesstest"
)

// A schedule that meets an expired login says so once to its chat, and goes on waiting. Once a message of the chat is
// answered, the schedule follows, and says when it was due.
func TestAScheduleWaitsForALogin(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	var in atomic.Bool
	s.Respond = func(_ int, text string) turn.Outcome {
		if !in.Load() {
			return turn.Outcome{Class: turn.Authentication, Detail: "Please run /login"}
		}
		return turn.Outcome{Answer: "re: " + text}
	}
	text := "schedules:\n  morning: {cron: 0 7 * * *, prompt: What is new?, deliver_to: 'telegram:1'}\n"
	storetest.Write(t, s.store.Schedules().Path(), text)
	rig.Must(t, s.store.Allowed().Seal(schedule.SealKind, schedules.Name, []byte(text)))
	file, err := schedule.Parse(schedules.Name, []byte(text))
	rig.Must(t, err)
	due := schedule.Due{Entry: file.Entries[0], ScheduledFor: storetest.SomeTime().Add(-50 * time.Hour).Truncate(time.Hour)}
	rig.Must(t, s.store.Schedules().Remember(map[string]schedule.Last{"morning": {
		ScheduledFor: due.ScheduledFor, Skipped: 2, SkippedTo: due.ScheduledFor.Add(48 * time.Hour),
	}}))
	told := make(chan string, 10)
	tell := func(_ context.Context, to, text string) error { told <- to + " " + text; return nil }
	server := s.serve(func(server *Server) { server.Tell, server.Relay = tell, tell }).Server
	over := make(chan error, 1)
	go func() { over <- runner{&Schedules{Server: server, Notes: s.store.Deliveries()}}.Run(t.Context(), due) }()
	rig.Equal(t, <-told, "telegram:1 The schedule morning waits: Claude is not logged in on its machine. It is tried again now and then.", "what the chat is told")

	chats := &Chats{Server: server, Notes: s.store.Deliveries()}
	rig.Same(t, "what /status says", []string{"The schedule morning waits: Claude is not logged in on its machine."}, chats.waitingFor("telegram:1"))
	in.Store(true)
	rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: "telegram:1", ID: "telegram:77", Text: "hello"}))
	_, err = server.Outcome(t.Context(), "telegram:1", "telegram:77", nil)
	rig.Must(t, err)
	rig.Must(t, <-over)
	const late = "This was due at 09:00 on 18 February. 2 later runs were left out, the last at 09:00 on 20 February, because this one was not over.\n\n"
	rig.Equal(t, <-told, "telegram:1 "+late+"re: What is new?", "what the chat is told at last")
	rig.Equal(t, len(told), 0, "what it is told besides")
}

// What Claude says of an expired login asks to type /login: a chat in which that does nothing is not told it.
func TestAChatIsNotAskedToLogIn(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	s.Respond = func(int, string) turn.Outcome {
		return turn.Outcome{Class: turn.Authentication, Detail: "Not logged in · Please run /login"}
	}
	chats := &Chats{Server: s.serve().Server, Notes: s.store.Deliveries()}
	rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: "telegram:1", ID: "telegram:77", Text: "hello"}))
	answer, err := chats.Answer(t.Context(), "telegram:1", "telegram:77", bridge.Answer{})
	rig.Check(t, err == nil && answer.Mends, "%+v, %v", answer, err)
	status, err := chats.Status(t.Context(), "telegram:1")
	rig.Must(t, err)
	rig.Equal(t, strings.Split(status, "\n")[2], "Message 1 is tried again later: Claude is not logged in on its machine.", "what /status says")
	_, err = chats.Interrupt(t.Context(), "telegram:1", "78:stop", "stopped by /stop", nothing)
	rig.Check(t, fail.KindOf(err) == fail.Held && err.Error() == "message 1 is held: Claude is not logged in on its machine", "what /stop says: %v", err)
}

// A chat that waits for Claude while the API refuses it hears so from /status.
func TestStatusSaysThatTheAPIRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	s.Respond = func(int, string) turn.Outcome {
		return turn.Outcome{Class: headlesstest.Waits, Answer: headlesstest.RefusedFirst}
	}
	chats := &Chats{Server: s.serve().Server, Notes: s.store.Deliveries()}
	rig.Must(t, chats.Accept(t.Context(), bridge.Incoming{Key: "telegram:1", ID: "telegram:77", Text: "hello"}))
	rig.WaitFor(t, "it says that the API refuses", func() (bool, string) {
		status, err := chats.Status(t.Context(), "telegram:1")
		rig.Must(t, err)
		return strings.Contains(status, "\nMessage 1 is being answered: the API of Claude refuses (401); Claude tries again."), status
	})
	close(s.Go)
	answer, err := chats.Answer(t.Context(), "telegram:1", "telegram:77", bridge.Answer{})
	rig.Check(t, err == nil && answer.Text == headlesstest.RefusedFirst, "%+v, %v", answer, err)
}

// A run that a person has to look at says so to its chat too.
func TestAScheduleThatNeedsAPerson(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	told := make(chan string, 10)
	server := s.serve(func(server *Server) {
		server.Tell = func(_ context.Context, _, text string) error { told <- text; return nil }
	}).Server
	due := schedule.Due{Entry: &schedule.Entry{Name: "morning", Prompt: "wait", DeliverTo: "telegram:1"}, ScheduledFor: storetest.SomeTime()}
	over := make(chan error, 1)
	go func() { over <- runner{&Schedules{Server: server, Notes: s.store.Deliveries()}}.Run(t.Context(), due) }()
	<-s.begun
	rig.Must(t, s.store.Conversations().Of("cron:morning").Hold(t.Context(), 1, conversations.Held{Class: "unknown", Reason: "it had used tools", At: storetest.SomeTime()}))
	server.changed()
	storetest.WantKind(t, "the run", <-over, fail.Held)
	rig.Equal(t, <-told, "The schedule morning waits: Claude ended in the middle of the turn (it had used tools). It waits for a person at the machine: nbs-worker conversation retry 'cron:morning'", "what the chat is told")
	close(s.Go)
}
