package conversation

import (
	"bufio"
	"io"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/turns"
)

// brief is a grace that is to be used up.
const brief = 50 * time.Millisecond

// claudeOf starts a claude of a turn that does not leave, on a session.
func (s *stage) claudeOf(invocation agent.Invocation, id agent.SessionID) (ended chan struct{}) {
	s.Helper()
	cmd := rig.Command("claude")
	cmd.Args = []string{"claude", "--resume", string(id)}
	cmd.Env = append(cmd.Env, agent.TurnVariable+"="+string(invocation))
	in, err := cmd.StdinPipe()
	rig.Must(s.T, err)
	out, err := cmd.StdoutPipe()
	rig.Must(s.T, err)
	rig.Must(s.T, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n') // it is there
	rig.Must(s.T, err)
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // however it ends
	}()
	s.Cleanup(func() {
		_ = in.Close() // of one that was ended
		<-ended
	})
	return ended
}

// A claude whose runner was killed, and that does not leave, is in nobody's way: the turn that it took may be over long ago.
func TestAHungClaudeOfATurnIsEnded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.dying = brief
	first := s.mustAsk("one")
	lines, err := s.Project.Store.Conversations().Of("review").Journal()
	rig.Must(t, err)
	var of agent.Invocation
	for _, line := range lines {
		if line.What == conversations.Started {
			of = line.Start.Invocation
		}
	}
	ended := s.claudeOf(of, first.SessionID)
	got := s.mustAsk("two")
	rig.Check(t, got.Continuity == conversations.Resumed, "%+v", got)
	<-ended
}

// One that answers a conversation of another project is not touched.
func TestAnothersClaudeIsNotEnded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.dying = brief
	first := s.mustAsk("one")
	ended := s.claudeOf(agent.NewInvocation(), first.SessionID)
	_, err := s.ask("two")
	storetest.WantKind(t, "the turn", err, fail.Conflict)
	select {
	case <-ended:
		t.Error("it was ended")
	default:
	}
}

// Turns that hang take the places of a machine: another one does not wait for them longer than it may take itself.
func TestNoPlaceComesFree(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for range turns.AtOnce() {
		release, err := s.Project.Store.ConversationTurns().Await(t.Context(), local.New().Halted, func() {})
		rig.Must(t, err)
		defer release()
	}
	_, err := s.ask("one", func(r *conversations.Request) { r.Timeout = brief })
	storetest.WantKind(t, "the turn", err, fail.TimedOut)
	rig.Equal(t, len(s.state().Open), 1, "turns that are kept")
}
