package headless

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// A claude is ended before its tool: of one that was ended beneath it, it would tell the model, and go on.
func TestAClaudeIsEndedBeforeItsTool(t *testing.T) {
	t.Parallel()
	invocation, wentOn := agent.NewInvocation(), filepath.Join(t.TempDir(), "went-on")
	// A shell takes TERM when the command that it waits for has ended.
	cmd := exec.Command("sh", "-c", `trap : TERM; sleep 600; echo >"$0"`, wentOn)
	cmd.Env = append(os.Environ(), agent.TurnVariable+"="+string(invocation))
	rig.Must(t, cmd.Start())
	rig.Eventually(t, "its tool runs", func() bool {
		both, err := local.New().Carrying(agent.TurnVariable, string(invocation))
		return err == nil && len(both) == 2 && slices.ContainsFunc(both, func(id agent.Identity) bool { return local.New().Name(id.PID) == "sleep" })
	})
	rig.Must(t, endProcesses(t.Context(), local.New(), invocation, 50*time.Millisecond))
	_ = cmd.Wait() // it was killed
	storetest.WantNames(t, filepath.Dir(wentOn))
}

// stubborn is a claude that does not exit, and is not found, until it was asked often enough.
type stubborn struct {
	Process

	t     *testing.T
	asked int
}

func (*stubborn) Beside() turn.Beside { return turn.Beside{} }

func (p *stubborn) Close(ctx context.Context) error {
	_, bounded := ctx.Deadline()
	rig.Check(p.t, bounded, "it is waited for without end")
	if p.asked++; p.asked < 4 {
		return context.DeadlineExceeded
	}
	return nil
}

// A claude that hangs, and could not be looked for, is looked for again: it would keep its conversation for good.
func TestAClaudeIsEndedUntilItHasEnded(t *testing.T) {
	t.Parallel()
	p, released := &stubborn{t: t}, false
	s := &Session{machine: local.New(), Process: p, Invocation: agent.NewInvocation(), release: func() { released = p.asked == 4 }}
	s.End(t.Context())
	rig.Check(t, released, "it was asked %d times before its conversation was given up", p.asked)
}

// answering is a claude whose caller gives up as the answer comes.
type answering struct {
	Process

	giveUp func()
}

func (p answering) Turn(context.Context, string, string, func(turn.Event), ...turn.Image) (turn.Outcome, error) {
	p.giveUp()
	return turn.Outcome{Class: turn.Answered, Answer: "42"}, nil
}

// What is answered stays answered: a claude that is ended then may not have written its transcript.
func TestAnAnswerIsNotGivenUp(t *testing.T) {
	t.Parallel()
	ctx, giveUp := context.WithCancel(t.Context())
	s := &Session{Process: answering{giveUp: giveUp}}
	outcome, err := s.Say(ctx, Limits{}, "id", "What number?", nil)
	rig.Check(t, err == nil && outcome.Answer == "42", "%+v, %v", outcome, err)
}
