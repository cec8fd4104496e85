package conversation

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless"
	"nbs-worker/internal/team/headless/headlesstest"
)

// queue queues a text without having it answered.
func (s *stage) queue(id, text string) {
	s.Helper()
	rig.Must(s.T, second(s.Accept(s.Context(), "review", Say{Request: conversations.Request{ID: id, Text: text, At: s.now}, Meta: s.meta()})))
}

// drainToHold runs what is open, which ends with a turn that is held.
func (s *stage) drainToHold() (until time.Time) {
	s.Helper()
	until, err := s.Drain(s.Context(), "review")
	storetest.WantKind(s.T, "a turn that is held", err, fail.Held)
	return until
}

// What may be mended without a word to us is tried again in pauses that grow, and counts no attempt.
func TestAnExpiredLoginIsTriedNowAndThen(t *testing.T) {
	t.Parallel()
	for _, class := range []turn.Class{turn.Authentication, turn.Overloaded} {
		s := newStage(t)
		s.Respond = func(int, string) turn.Outcome { return headlesstest.Failing(class) }
		s.queue("a", "hello")
		for s.state().Open[0].Held == nil || !s.state().Open[0].Held.Mends { // an overload has two short pauses before
			until, _ := s.Drain(t.Context(), "review")
			if !s.state().Open[0].Held.Mends {
				s.now = until
			}
		}
		var pauses []time.Duration
		for range 7 {
			until := s.state().Open[0].Held.Until
			pauses = append(pauses, until.Sub(s.now).Round(15*time.Minute))
			s.now = until
			s.drainToHold()
		}
		const m, h = time.Minute, time.Hour
		rig.Same(t, "the pauses after "+string(class), []time.Duration{15 * m, 15 * m, 30 * m, h, 2 * h, 4 * h, 4 * h}, pauses)
		s.now = s.state().Open[0].Held.Until
		s.Answer()
		got, err := s.Await(t.Context(), "review", "a")
		rig.Check(t, err == nil && got.Answer == "re: "+turn.Continue, "%+v, %v", got, err)
	}
}

// A message shows that a person is there, and a server that starts may find a login that was renewed.
func TestAMendedLoginIsTakenUp(t *testing.T) {
	t.Parallel()
	for name, takeUp := range map[string]func(*stage) error{
		"at a new message":         func(s *stage) error { s.queue("b", "are you there?"); return nil },
		"at the start of a server": func(s *stage) error { return s.TakeUp(s.Context()) },
		"of what was held in old days": func(s *stage) error {
			held := *s.state().Open[0].Held
			held.Until, held.Mends = time.Time{}, false
			return errors.Join(s.Project.Store.Conversations().Of("review").Hold(s.Context(), 1, held), s.TakeUp(s.Context()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.Answer(headlesstest.Failing(turn.Authentication))
			s.queue("a", "hello")
			s.drainToHold()
			rig.Must(t, takeUp(s))
			_, err := s.Drain(t.Context(), "review")
			rig.Check(t, err == nil && len(s.state().Open) == 0, "%v, %+v", err, s.state().Open)
			result, over, err := s.Project.Store.Conversations().Of("review").Result("a")
			rig.Check(t, err == nil && over && result.Answer != "", "%+v, %v", result, err)
		})
	}
}

// A text that is durable is accepted, also if what waits before it cannot be tried at once.
func TestATextIsAcceptedThoughNothingIsHastened(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(headlesstest.Failing(turn.Authentication))
	s.queue("a", "hello")
	before := s.drainToHold()
	ctx, end := context.WithCancel(t.Context())
	s.Project.Now = func() time.Time { end(); return s.now }
	accepted, _, err := s.Accept(ctx, "review", Say{Request: conversations.Request{ID: "b", Text: "are you there?", At: s.now}, Meta: s.meta()})
	rig.Check(t, err == nil && accepted.Seq == 2, "%+v, %v", accepted, err)
	open := s.state().Open
	rig.Check(t, len(open) == 2 && open[0].Held.Until.Equal(before), "%+v", open)
}

// A limit that says when it ends, and a turn of which a person must decide, are left alone by a new message.
func TestAMessageHastensNothingElse(t *testing.T) {
	t.Parallel()
	for class, outcome := range map[turn.Class]turn.Outcome{
		turn.Limit: headlesstest.Failing(turn.Limit), "unknown": {Class: turn.Killed, Answer: headlesstest.UsedTool},
	} {
		s := newStage(t)
		s.Answer(outcome)
		s.queue("a", "hello")
		_, _ = s.Drain(t.Context(), "review")
		before := s.state().Open[0].Held
		rig.Equal(t, before.Class, string(class), "the turn is held")
		s.queue("b", "are you there?")
		rig.Must(t, s.TakeUp(t.Context()))
		rig.Check(t, *s.state().Open[0].Held == *before, "%s: %+v; want %+v", class, s.state().Open[0].Held, before)
	}
}

// ended returns the identity of a process that has ended.
func (s *stage) ended() agent.Identity {
	s.Helper()
	process := exec.Command("/bin/sleep", "100")
	rig.Must(s.T, process.Start())
	id, err := s.Project.Machine.Identify(process.Process.Pid)
	rig.Must(s.T, errors.Join(err, process.Process.Kill()))
	_ = process.Wait()
	return id
}

// begunBy records an attempt of a runner that was killed; its claude had the text if wrote is set.
func (s *stage) begunBy(runner agent.Identity, wrote bool) {
	s.Helper()
	state := s.state()
	start := conversations.Start{
		Seq: 1, Attempt: len(state.Open[0].Starts) + 1, Invocation: agent.NewInvocation(), Runner: runner, Session: state.Session.ID,
		Mode: conversations.New, At: s.now,
	}
	if start.Session == "" {
		start.Session = agent.NewSessionID()
	}
	rig.Must(s.T, s.Project.Store.Conversations().Of("review").Begin(s.Context(), start))
	if wrote {
		s.WriteHeard(start.Session, turn.TextID(string(start.Invocation), 1), "hello")
	}
}

// A runner that is killed before its claude had the text has not tried anything, however often that happens.
func TestKilledRunnersBlockNoChat(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.queue("a", "hello")
	runner := s.ended()
	for range 5 {
		s.begunBy(runner, false)
	}
	got, err := s.Await(t.Context(), "review", "a")
	rig.Check(t, err == nil && got.Answer == "re: hello" && got.Attempts == 1, "%+v, %v", got, err)
	s.mustHear("hello")
}

// A runner that is killed in the middle of the turn each time gets its turn again later, or when a person writes; but a
// new server does not begin it at once, since it may be what kills servers.
func TestATurnWhoseRunnersAreKilledIsPutOff(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.queue("a", "hello")
	runner := s.ended()
	for range attempts {
		s.begunBy(runner, true)
	}
	until := s.drainToHold()
	rig.Check(t, until.Equal(s.now.Add(mendFirst)) && s.state().Open[0].Held.Class == string(turn.Killed), "%s, %+v", until, s.state().Open[0].Held)
	rig.Must(t, s.TakeUp(t.Context()))
	s.drainToHold()
	s.mustHear()
	s.queue("b", "are you there?")
	_, err := s.Drain(t.Context(), "review")
	rig.Must(t, err)
	s.mustHear(turn.Continue, "are you there?")
}

// A claude that crashes at once under a runner that lives is what the text does to it: a person decides.
func TestAClaudeThatCrashesAtOnceIsHeld(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Respond = func(int, string) turn.Outcome { return headlesstest.Failing(headlesstest.NeverHeard) }
	s.queue("a", "hello")
	s.drainToHold()
	rig.Check(t, s.state().Open[0].Held.Until.IsZero(), "%+v", s.state().Open[0].Held)
	s.mustHear("hello", "hello", "hello")
	s.queue("b", "are you there?")
	s.drainToHold()
	s.mustHear("hello", "hello", "hello")
}

// A folder that is gone for a while costs no attempt: the turn is answered when it is back.
func TestAFolderThatIsBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	start := s.Engine.Start
	s.Engine.Start = func(turn.Launch) (headless.Process, error) {
		return nil, fail.Errorf(fail.NotFound, "the folder is gone")
	}
	s.queue("a", "hello")
	for range 2 * attempts {
		_, err := s.Drain(t.Context(), "review")
		storetest.WantKind(t, "a turn without its folder", err, fail.NotFound)
	}
	s.Engine.Start = start
	got, err := s.Await(t.Context(), "review", "a")
	rig.Check(t, err == nil && got.Answer == "re: hello" && got.Attempts == 1, "%+v, %v", got, err)
}
