package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// spawnsAtOnce is how many agents are started at a time when a team grows: tmux has one thread, and more do not help.
const spawnsAtOnce = 4

func handle(i int) string { return fmt.Sprintf("agent-%04d", i) }

// grow starts agents from..to-1 and returns when all of the team are idle.
func (w *world) grow(ctx context.Context, from, to int) error {
	if from == 0 && to > 0 { // alone: it makes the project
		if _, err := w.run(ctx, w.nbs("spawn", handle(0), "--model", "opus", "--no-wait")...); err != nil {
			return err
		}
		from = 1
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for worker := range spawnsAtOnce {
		all.Go(func() {
			for i := from + worker; i < to && ctx.Err() == nil; i += spawnsAtOnce {
				if _, err := w.run(ctx, w.nbs("spawn", handle(i), "--model", "opus", "--no-wait")...); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("start %d agents: %w", to, err)
	}
	return errors.Join(w.allIdle(ctx, to), w.report(to))
}

// report writes for each agent what the hooks and the status line of a real claude write, because list reads it.
func (w *world) report(agents int) error {
	nbs := filepath.Join(w.Project, ".nbs")
	var all error
	for i := range agents {
		var record struct {
			SessionID string `json:"session_id"`
			Process   struct{ Invocation string }
		}
		data, err := os.ReadFile(filepath.Join(nbs, "sessions", handle(i)+".json"))
		if err == nil {
			err = json.Unmarshal(data, &record)
		}
		if err == nil {
			text := fmt.Sprintf(reportText, record.Process.Invocation, record.SessionID)
			err = os.WriteFile(filepath.Join(nbs, "status", handle(i)+".json"), []byte(text), 0o600)
		}
		all = errors.Join(all, err)
	}
	return all
}

const reportText = `{
  "invocation": %q,
  "session_id": %q,
  "activity": {
    "state": "idle",
    "hook": "Stop",
    "at": "2026-02-20T11:44:07.123456789Z"
  },
  "gauge": {
    "tokens": 160000,
    "window": 1000000,
    "used_percent": 16,
    "cost_usd": 0.858,
    "model": "claude-opus-4-1-20250805",
    "at": "2026-02-20T11:44:07.123456789Z"
  }
}
`

func (w *world) allIdle(ctx context.Context, agents int) error {
	var out string
	var err error
	waited := eventually(ctx, "all agents are idle", func() bool {
		out, err = w.run(ctx, w.nbs("list")...)
		return err == nil && strings.Count(out, "\tidle\t") == agents
	})
	if waited != nil {
		return errors.Join(waited, err, fmt.Errorf("list says: %.2000s", out))
	}
	return nil
}
