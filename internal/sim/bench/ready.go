package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/isolate"
)

// compareReal measures the verbs whose time the real Claude Code takes most of.
func compareReal(ctx context.Context, effort Effort, opts Options) (pairs []Pair, err error) {
	if err := isolate.Isolated(); err != nil {
		return nil, fmt.Errorf("the real Claude Code runs only in isolation: %w", err)
	}
	server, err := api.Start(api.Options{}) //nolint:contextcheck // it serves until it is closed
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	w, err := newWorld(ctx, opts, server.URL())
	if err != nil {
		return nil, err
	}
	w.api = server
	defer func() { err = errors.Join(err, w.end(ctx)) }()
	for _, one := range []struct {
		compare func(context.Context, Effort, Options) (Pair, error)
		effort  Effort
	}{
		{w.compareReady, effort.few()}, {w.compareRecovery, effort.few()}, {w.compareSend, effort},
		{w.compareAsk, effort.many()}, {w.compareAround, effort}, {w.compareWarm, effort.many()},
	} {
		pair, err := one.compare(ctx, one.effort, opts)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// compareReady compares how long it takes until claude is ready: by spawn, which returns then, and by tmux alone, until
// Claude's registry has it as idle.
func (w *world) compareReady(ctx context.Context, effort Effort, opts Options) (pair Pair, err error) {
	pair = Pair{Name: "`spawn` until Claude Code is ready", Beside: "`tmux new-session claude`", Agents: 1, Budget: Budget{}}
	pair.Floor, pair.Ours, err = interleave(ctx, effort, w.plainReady(opts.Claude), w.spawnReady)
	if err != nil {
		err = fmt.Errorf("measure spawn of Claude Code: %w", err)
	}
	return pair, err
}

func (w *world) spawnReady(ctx context.Context) (time.Duration, error) {
	took, _, err := measure(w.command(ctx, w.nbs("spawn", probe, "--model", "opus")...))
	if err != nil {
		return took, err
	}
	_, err = w.run(ctx, w.nbs("dismiss", probe)...)
	return took, err
}

// plainReady gives claude the same arguments that spawn does. The environment is that of the tmux server.
func (w *world) plainReady(claude string) sampler {
	start := w.tmux("new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", plainSession, "-x", "120", "-y", "40")
	start = append(start, "--", claude, "--session-id", probeID, "--model", "opus", "--permission-mode", "bypassPermissions",
		"--settings", `{"skipDangerousModePermissionPrompt":true}`)
	return func(ctx context.Context) (time.Duration, error) {
		begun := time.Now()
		out, err := w.run(ctx, start...)
		if err != nil {
			return 0, err
		}
		entry := filepath.Join(w.ConfigDir, "sessions", strings.TrimSpace(out)+".json")
		if err := eventually(ctx, "Claude Code is ready", func() bool {
			data, err := os.ReadFile(entry)
			return err == nil && strings.Contains(string(data), `"status":"idle"`)
		}); err != nil {
			return 0, err
		}
		took := time.Since(begun)
		if _, err := w.run(ctx, w.tmux("kill-session", "-t", "="+plainSession)...); err != nil {
			return took, err
		}
		return took, eventually(ctx, "Claude Code has ended", func() bool {
			_, err := os.Stat(entry)
			return errors.Is(err, os.ErrNotExist)
		})
	}
}
