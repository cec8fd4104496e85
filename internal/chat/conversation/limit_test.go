package conversation

import (
	"context"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless/headlesstest"
)

func silent(limit time.Duration) func(*conversations.Request) {
	return func(r *conversations.Request) { r.Silence = limit }
}

// A silent claude is ended. What its tools did is told, and that the text should be sent again is not.
func TestSilentTurnTellsWhatActed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Answer(headlesstest.Failing(headlesstest.Waits), turn.Outcome{Class: headlesstest.Waits, Answer: headlesstest.UsedTool})
	got := s.mustAsk("hello", silent(time.Millisecond))
	err := ErrOf("review", got)
	storetest.WantKind(t, "a silent turn", err, fail.TimedOut)
	storetest.WantHint(t, err, "--turn-timeout 1h")
	rig.Check(t, got.Error == "claude was silent for 1ms" && got.Acted == nil, "%+v", got)
	got = s.mustAsk("write it", silent(time.Millisecond))
	err = ErrOf("review", got)
	rig.Check(t, strings.Contains(err.Error(), "; Claude had used Bash; the conversation is kept"), "%v", err)
	for _, hint := range fail.HintsOf(err) {
		rig.Check(t, !strings.Contains(hint, "ask"), "it advises to send it again: %s", hint)
	}
}

// The first turn's limit is the conversation's, a later turn's is its own, and a repeated text may have another one.
func TestTheLimitOfAConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	first := Say{Request: conversations.Request{ID: "1", Text: "one", At: s.now, Silence: time.Hour}, Meta: s.meta()}
	first.Meta.Silence = time.Hour
	rig.Must(t, second(s.Accept(t.Context(), "review", first)))
	first.Silence = time.Minute
	rig.Must(t, second(s.Accept(t.Context(), "review", first)))
	meta := s.state().Meta
	for want, limit := range map[time.Duration]time.Duration{time.Hour: 0, time.Minute: time.Minute, 0: conversations.Unlimited} {
		rig.Equal(t, silenceOf(&conversations.Request{Silence: limit}, &meta), want, "for a turn with %s", limit)
	}
	rig.Equal(t, silenceOf(&conversations.Request{Timeout: time.Hour}, &conversations.Meta{}), TurnTimeout, "the default")
}

// A turn that takes hours in a process that lives is not stuck; without such a process it is.
func TestALongTurnOfALivingRunnerIsNotStuck(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, id := range []string{"1", "2"} {
		rig.Must(t, second(s.Accept(t.Context(), "review", Say{Request: conversations.Request{ID: id, Text: id, At: s.now, Silence: time.Millisecond}, Meta: s.meta()})))
	}
	c := s.Project.Store.Conversations().Of("review")
	self, err := s.Project.Machine.Self()
	rig.Must(t, err)
	rig.Must(t, c.Begin(t.Context(), conversations.Start{Seq: 1, Runner: self, At: s.now}))
	s.now = s.now.Add(3 * time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), brief)
	defer cancel()
	rig.Must(t, s.awaitHalt(ctx, c, "2"))
	self.PID = 1 // another process, which has not this birth
	rig.Must(t, c.Begin(t.Context(), conversations.Start{Seq: 1, Runner: self, At: s.now}))
	project, begun := *s.Project, time.Now()
	project.Now = func() time.Time { return s.now.Add(time.Since(begun)) }
	storetest.WantKind(t, "a turn without its runner", New(&project).awaitHalt(t.Context(), c, "2"), fail.TimedOut)
}
