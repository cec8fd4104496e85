package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// compareAsk compares a turn of a conversation with what Claude Code takes for one without us.
func (w *world) compareAsk(ctx context.Context, effort Effort, opts Options) (pair Pair, err error) {
	pair = Pair{Name: "`ask`", Beside: "`claude -p --resume`", Budget: Budget{Plus: 15}}
	plain, err := w.plainTurns(ctx, opts.Claude)
	if err != nil {
		return pair, err
	}
	pair.Floor, pair.Ours, err = interleave(ctx, effort, plain, w.timed("You said: hello", w.nbs("ask", "cold", "hello")...))
	if err != nil {
		err = fmt.Errorf("measure a turn: %w", err)
	}
	return pair, err
}

// compareWarm does so for a turn that a server's claude takes, which has been started already.
func (w *world) compareWarm(ctx context.Context, effort Effort, opts Options) (pair Pair, err error) {
	pair = Pair{Name: "`ask` of a warm conversation", Beside: "`claude -p --resume`", Budget: Budget{Times: 0.1}}
	plain, err := w.plainTurns(ctx, opts.Claude)
	if err != nil {
		return pair, err
	}
	server := w.command(ctx, w.nbs("serve")...)
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = 10 * time.Second
	if err := server.Start(); err != nil {
		return pair, err
	}
	defer func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	}()
	err = eventually(ctx, "the server is up", func() bool {
		found, _ := filepath.Glob(filepath.Join(w.RunDir, "nbs-worker", "serve", "*.sock"))
		return len(found) > 0
	})
	if err != nil {
		return pair, err
	}
	pair.Floor, pair.Ours, err = interleave(ctx, effort, plain, w.timed("You said: hello", w.nbs("ask", "warm", "hello")...))
	if err != nil {
		err = fmt.Errorf("measure a warm turn: %w", err)
	}
	return pair, err
}

// plainTurns begins a conversation without us, and samples its further turns.
func (w *world) plainTurns(ctx context.Context, claude string) (sampler, error) {
	first, err := w.run(ctx, claude, "-p", "--output-format", "json", "hello")
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(first, `"session_id":"`)
	id, _, found := strings.Cut(rest, `"`)
	if !found {
		return nil, fmt.Errorf("no session id in %.300q", first)
	}
	return w.timed("You said: hello", claude, "-p", "--resume", id, "hello"), nil
}
