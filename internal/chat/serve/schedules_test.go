package serve

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/schedules"
	"nbs-worker/internal/store/storetest"
)

// A turn that is due runs once it is allowed, without a restart; the chat gets its answer, and an agent its message.
func TestWhatIsDueRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	told, sent := make(chan string, 100), make(chan string, 100)
	s.serve(func(server *Server) {
		server.Engine.Project.Now = time.Now // the runs are due by it
		server.Relay = func(_ context.Context, to, text string) error { told <- to + " " + text; return nil }
		due := &Schedules{Server: server, Notes: s.store.Deliveries(), Send: func(_ context.Context, to, _, text string) (string, error) {
			sent <- to + " " + text
			return "", nil
		}}
		server.Beside = append(server.Beside, due.Run)
	})
	text := "schedules:\n  morning: {every: 1s, prompt: hello, deliver_to: 'telegram:1'}\n  nudge: {every: 1s, send: {to: alpha, text: Go on.}}\n"
	storetest.Write(t, s.store.Schedules().Path(), text)
	rig.Eventually(t, "it says why nothing runs", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.says) > 0
	})
	rig.Must(t, s.store.Allowed().Seal(schedule.SealKind, schedules.Name, []byte(text)))
	rig.Equal(t, <-told, "telegram:1 re: hello", "what the chat is told")
	rig.Equal(t, <-sent, "alpha Go on.", "what the agent is told")
	state, err := s.store.Conversations().Of("cron:morning").State()
	rig.Check(t, err == nil && state.Session.ID == "", "a run is remembered: %+v, %v", state.Session, err)
	rig.Check(t, len(storetest.Names(t, filepath.Join(s.store.Folder(), schedules.Folder))) > 0, "what ran is not written down")
}

// A conversation that nobody has used since begins anew, and its next answer tells why; one in use goes on.
func TestAScheduledReset(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	serving := s.serve()
	before := s.mustAnswer("review", "one")
	due := &Schedules{Server: serving.Server, Notes: s.store.Deliveries()}
	talks, err := due.Talks()
	rig.Check(t, err == nil && len(talks) == 1 && talks[0].Key == "review", "%+v, %v", talks, err)
	done, err := due.Reset(t.Context(), schedule.Reset{Key: "review", Reason: "the daily reset", Before: talks[0].Last})
	rig.Check(t, err == nil && !done, "one that was used since was reset: %v", err)
	rig.Eventually(t, "it is reset once its turn's lock is free", func() bool {
		done, err = due.Reset(t.Context(), schedule.Reset{Key: "review", Reason: "the daily reset", Before: talks[0].Last.Add(1)})
		rig.Must(t, err)
		return done
	})
	after := s.mustAnswer("review", "two")
	rig.Check(t, after.Continuity == conversations.Reset && after.PreviousSessionID == before.SessionID && after.Reason == "the daily reset", "%+v", after)
}

// Schedules that had to stop go on once what stopped them is mended, and say once why they do not run.
func TestSchedulesGoOnOnceTheyCan(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	file, err := schedule.Parse(schedules.Name, []byte("schedules:\n  nudge: {every: 24h, send: {to: alpha, text: Go on.}}\n"))
	rig.Must(t, err)
	unfinished := map[string]schedule.Last{"nudge": {When: file.Entries[0].Times.String(), ScheduledFor: storetest.SomeTime()}}
	rig.Must(t, s.store.Schedules().Remember(unfinished))
	lasts := filepath.Join(s.store.Folder(), schedules.Folder, "last.json")
	whole := storetest.Read(t, lasts)
	storetest.Write(t, lasts, "{")
	synctest.Test(t, func(t *testing.T) {
		sent, said := make(chan string, 100), make(chan string, 100)
		due := &Schedules{Server: New(s.engine(), func(format string, _ ...any) { said <- format }), Send: func(_ context.Context, to, _, text string) (string, error) {
			sent <- to + " " + text
			return "", nil
		}}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); due.loop(ctx, file) }()
		time.Sleep(3 * rescan) //nolint:forbidigo // virtual time
		synctest.Wait()
		rig.Equal(t, len(said), 1, "sayings")
		storetest.Write(t, lasts, whole)
		time.Sleep(rescan) //nolint:forbidigo // virtual time
		rig.Equal(t, <-sent, "alpha Go on.", "what the agent is told")
		end()
		<-ended
	})
}

// A chat that can never be told, such as one that has blocked the bot, leaves no note that stays for good.
func TestWhatCannotBeDeliveredIsOver(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	server := New(s.engine(), s.Logf)
	blocked := errors.New("Forbidden: bot was blocked by the user")
	server.Relay = func(context.Context, string, string) error { return blocked }
	notes := s.store.Deliveries()
	due := schedule.Due{Entry: &schedule.Entry{Name: "morning", DeliverTo: "telegram:1"}, ScheduledFor: storetest.SomeTime()}
	err := (&Schedules{Server: server, Notes: notes}).deliver(t.Context(), due, &conversations.Result{Answer: "Good morning."})
	note, _, noteErr := notes.Get(due.ID())
	rig.Check(t, errors.Is(err, blocked) && noteErr == nil && note.State == deliveries.Over, "%v; %+v, %v", err, note, noteErr)
}

// A chat that may have been told an answer before a crash is told so with the answer; once it is noted, no more.
func TestWhatIsDeliveredAgainSaysSo(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	server := New(s.engine(), s.Logf)
	var told []string
	crash := true
	server.Relay = func(_ context.Context, _, text string) error {
		told = append(told, text)
		if crash {
			return context.Canceled
		}
		return nil
	}
	notes := s.store.Deliveries()
	schedules, due := &Schedules{Server: server, Notes: notes}, schedule.Due{Entry: &schedule.Entry{Name: "morning", DeliverTo: "telegram:1"}, ScheduledFor: storetest.SomeTime()}
	for _, crash = range []bool{true, false, false} {
		err := schedules.deliver(t.Context(), due, &conversations.Result{Answer: "Good morning."})
		rig.Check(t, (err != nil) == crash, "%v", err)
		open, err := (&Chats{Server: server, Notes: notes}).Undelivered(t.Context())
		rig.Check(t, err == nil && len(open) == 0, "the bridge takes it for a message of its chat: %+v, %v", open, err)
	}
	rig.Same(t, "what the chat is told", []string{"Good morning.", bridge.PerhapsAgain + "Good morning."}, told)
}

// A schedule that is run by hand tells its chat as any other run does, once, also after its caller has left.
func TestAScheduleThatIsRunByHand(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	text := "schedules:\n  morning: {every: 24h, prompt: wait, deliver_to: 'telegram:1'}\n"
	storetest.Write(t, s.store.Schedules().Path(), text)
	rig.Must(t, s.store.Allowed().Seal(schedule.SealKind, schedules.Name, []byte(text)))
	told := make(chan string, 100)
	s.serve(func(server *Server) {
		server.Relay = func(_ context.Context, to, text string) error { told <- to + " " + text; return nil }
		server.Scheduled = (&Schedules{Server: server, Notes: s.store.Deliveries()}).RunNow
	})
	at := storetest.SomeTime()
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- client.Run(ctx, s.store, "morning", at) }()
	<-s.begun
	leave()
	storetest.WantKind(t, "a caller that leaves", <-left, fail.Interrupted)
	close(s.Go)
	rig.Equal(t, <-told, "telegram:1 re: wait", "what the chat is told")
	rig.Eventually(t, "it is noted", func() bool {
		note, _, err := s.store.Deliveries().Get("cron:morning:" + at.Format(time.RFC3339))
		return err == nil && note.State == deliveries.Over
	})
	rig.Must(t, client.Run(t.Context(), s.store, "morning", at))
	rig.Equal(t, len(told), 0, "what it is told again")
	storetest.WantKind(t, "of another name", client.Run(t.Context(), s.store, "evening", at), fail.NotFound)
}
