package serve

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/remote"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/allowed"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/schedules"
)

// Schedules runs the schedules of a project while its server runs.
type Schedules struct {
	Server *Server
	Notes  *deliveries.Drawer
	Send   func(ctx context.Context, to, id, text string) (string, error) // to an agent; once per id
}

var (
	_ schedule.Runner        = runner{}
	_ schedule.Conversations = (*Schedules)(nil)
)

// plan is the schedule file as read.
type plan struct {
	file *schedule.File // nil: nothing runs
	text string
	why  string // the reason why nothing runs; "" also if there is no file
}

// Run runs what is due until the context ends. When the file changes, the new content counts once it is allowed.
// Errors: those of watching the file.
func (s *Schedules) Run(ctx context.Context) error {
	in := s.Server.Engine.Project.Store
	files, err := fswatch.New()
	if err != nil {
		return err
	}
	defer files.Close()
	if err := errors.Join(files.File(in.Schedules().Path()), files.Folder(filepath.Join(in.Folder(), allowed.Folder))); err != nil {
		return err
	}
	for ctx.Err() == nil {
		now := s.read()
		if now.why != "" {
			s.Server.Said("schedules: %s", now.why)
		}
		running, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.loop(running, now.file)
		}()
		err := s.awaitOther(ctx, files, now)
		stop()
		<-ended
		if err != nil {
			return err
		}
	}
	return nil
}

// loop runs what a file schedules. It reports a failure once and then retries: the cause may be repaired.
func (s *Schedules) loop(ctx context.Context, file *schedule.File) {
	if file == nil {
		return
	}
	for said := ""; ctx.Err() == nil; _ = clock.Sleep(ctx, rescan) {
		loop := schedule.Loop{File: file, Memory: s.Server.Engine.Project.Store.Schedules(), Runner: runner{s}, Conversations: s, Say: s.say, Now: s.Server.Engine.Project.Now}
		err := loop.Run(ctx)
		if ctx.Err() != nil {
			return
		}
		if err.Error() != said {
			said = err.Error()
			s.Server.Said("schedules: %s", said)
		}
	}
}

// awaitOther waits until the file or its permission has changed.
func (s *Schedules) awaitOther(ctx context.Context, files *fswatch.Watch, before plan) error {
	for {
		switch err := files.Change(ctx); {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it is told to end
		case err != nil:
			return err
		}
		if now := s.read(); now.text != before.text || now.why != before.why {
			return nil
		}
	}
}

// read reads the file.
func (s *Schedules) read() plan {
	file, text, err := AllowedSchedules(s.Server.Engine.Project.Store)
	switch {
	case fail.KindOf(err) == fail.NotFound:
		return plan{}
	case err != nil:
		return plan{text: string(text), why: err.Error()}
	}
	return plan{file: file, text: string(text)}
}

// AllowedSchedules returns what a server runs by itself, with the text of the file. Errors: NotFound (there is no file),
// Held (it is not allowed), BadInput.
func AllowedSchedules(in *store.Store) (file *schedule.File, text []byte, err error) {
	if text, err = in.Schedules().Text(); err != nil {
		return nil, text, err
	}
	if err = in.Allowed().Check(schedule.SealKind, schedules.Name, text); err != nil {
		return nil, text, err
	}
	file, err = schedule.Parse(schedules.Name, text)
	return file, text, err
}

func (s *Schedules) say(d schedule.Action) {
	words := string(d.Word)
	if d.Name != "" {
		words = d.Name + ": " + words
	}
	if d.Detail != "" {
		words += ": " + d.Detail
	}
	s.Server.Said("schedules: %s", words)
}

// RunNow runs an entry outside of its times, as Run does. Errors: NotFound; those of [AllowedSchedules] and the run.
func (s *Schedules) RunNow(ctx context.Context, name string, at time.Time) error {
	file, _, err := AllowedSchedules(s.Server.Engine.Project.Store)
	if err != nil {
		return err
	}
	due, err := file.ByHand(name, at)
	if err != nil {
		return err
	}
	return runner{s}.Run(ctx, due)
}

// runner implements Run for one due entry; [Schedules.Run] is another method.
type runner struct{ *Schedules }

// Run implements [schedule.Runner].
func (s runner) Run(ctx context.Context, due schedule.Due) error {
	if due.Entry.Send != nil {
		_, err := s.Send(ctx, string(due.Entry.Send.To), due.ID(), due.Entry.Send.Text)
		return err
	}
	key, say, err := remote.Scheduled(s.Server.Engine, due)
	if err != nil {
		return err
	}
	if _, err := s.Server.Accept(ctx, key, say); err != nil {
		return err
	}
	result, err := s.result(ctx, due)
	if err != nil {
		return err
	}
	if due.Entry.DeliverTo != "" {
		err = s.deliver(ctx, due, result)
	}
	whole := s.Server.Engine.Whole(ctx, key, result) // what Claude did after the answer may make it a failure
	return errors.Join(err, failureIn(key, &whole))
}

// result waits until the turn of a run is over, including retries. The chat of the run is told why that takes long.
// Errors: Held when it waits for a person.
func (s *Schedules) result(ctx context.Context, due schedule.Due) (*conversations.Result, error) {
	key := conversations.Key(due.Entry.Key())
	var told *conversations.Held
	for {
		o, err := s.Server.Outcome(ctx, key, due.ID(), told)
		switch {
		case err != nil:
			return nil, err
		case o.Result != nil:
			return o.Result, nil
		}
		s.tellHeld(ctx, due, o.Held)
		if o.Held.Until.IsZero() {
			return nil, fail.Errorf(fail.Held, "a turn of %s waits for a person: %s", key, o.Held.Reason).
				Hint("nbs-worker conversation queue %s", human.ShellWord(string(key)))
		}
		told = o.Held
	}
}

func failureIn(key conversations.Key, r *conversations.Result) error {
	return conversation.ErrOf(key, *r)
}

// deliver sends the outcome of a run to a chat, once, and then what Claude says by itself when background tasks of the run
// have ended.
func (s *Schedules) deliver(ctx context.Context, due schedule.Due, r *conversations.Result) error {
	if s.Server.Relay == nil {
		return client.ErrNoBridge()
	}
	key, text := conversations.Key(due.Entry.Key()), remote.Told(r)
	if err := failureIn(key, r); err != nil {
		text = fmt.Sprintf("The schedule %s failed: %s.", due.Entry.Name, err)
	}
	if late := s.lateness(due, r.At); late != "" {
		text = late + "\n\n" + text
	}
	tell := s.teller(due, s.Server.Relay)
	err := s.Server.tellOnce(ctx, s.Notes, due.ID(), due.Entry.DeliverTo, text, tell)
	whole := s.Server.Engine.Whole(ctx, key, r)
	later := slices.Clone(whole.FollowUps)
	if cut := strings.TrimSpace(strings.TrimPrefix(whole.Notice, r.Notice)); cut != "" {
		later = append(later, cut)
	}
	if r.Class == "" && whole.Class != "" {
		later = append(later, fmt.Sprintf("The schedule %s counts as failed for that.", due.Entry.Name))
	}
	if len(later) == 0 || errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(err, s.Server.tellOnce(ctx, s.Notes, due.ID()+":later", due.Entry.DeliverTo, strings.Join(later, "\n\n"), tell))
}

// Talks implements [schedule.Conversations].
func (s *Schedules) Talks() ([]schedule.Talk, error) {
	drawer := s.Server.Engine.Project.Store.Conversations()
	keys, err := drawer.Keys()
	var talks []schedule.Talk
	for _, key := range keys {
		if state, err := drawer.Of(key).State(); err == nil && state.Session.ID != "" && len(state.Open) == 0 {
			talks = append(talks, schedule.Talk{Key: string(key), Last: state.LastAt})
		}
	}
	if len(talks) > 0 { // a later user of an unreadable conversation reports it
		return talks, nil
	}
	return nil, err
}

// Reset implements [schedule.Conversations].
func (s *Schedules) Reset(ctx context.Context, r schedule.Reset) (done bool, err error) {
	return s.Server.Engine.ResetUnused(ctx, conversations.Key(r.Key), r.Reason, r.Before)
}
