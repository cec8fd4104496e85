package bench

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// compareRecovery compares the two ways to bring a team back after a kill-server: one resume for each agent, one after
// the other, and one for all that are down, which overlaps its starts.
func (w *world) compareRecovery(ctx context.Context, effort Effort, opts Options) (pair Pair, err error) {
	pair = Pair{Name: "`resume --down` after `kill-server`", Beside: "one `resume` after the other", Agents: opts.Recovered}
	for i := range opts.Recovered {
		if _, err := w.run(ctx, w.nbs("spawn", handle(i), "--model", "opus", "--prompt", "Remember 42.")...); err != nil {
			return pair, fmt.Errorf("start the team: %w", err)
		}
	}
	pair.Floor, pair.Ours, err = interleave(ctx, effort, w.afterLoss(opts.Recovered, w.resumeInTurn), w.afterLoss(opts.Recovered, w.resumeDown))
	if err != nil {
		err = fmt.Errorf("measure the recovery of a team: %w", err)
	}
	return pair, err
}

// afterLoss kills the tmux server and samples the recovery from that.
func (w *world) afterLoss(agents int, recover func(ctx context.Context, agents int) error) sampler {
	return func(ctx context.Context) (time.Duration, error) {
		if _, err := w.run(ctx, w.tmux("kill-server")...); err != nil {
			return 0, err
		}
		if err := eventually(ctx, "all agents are down", func() bool {
			out, err := w.run(ctx, w.nbs("list")...)
			return err == nil && strings.Count(out, "\tlost: tmux\t") == agents
		}); err != nil {
			return 0, err
		}
		begun := time.Now()
		err := recover(ctx, agents)
		return time.Since(begun), err
	}
}

func (w *world) resumeDown(ctx context.Context, _ int) error {
	_, err := w.run(ctx, w.nbs("resume", "--down")...)
	return err
}

func (w *world) resumeInTurn(ctx context.Context, agents int) error {
	for i := range agents {
		if _, err := w.run(ctx, w.nbs("resume", handle(i))...); err != nil {
			return err
		}
	}
	return nil
}
