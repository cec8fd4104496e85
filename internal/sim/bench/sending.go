package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/sim/api"
)

// compareSend compares how long it takes until Claude has passed a text to the API: by send, and by the three tmux calls
// with which a script types it. What Claude itself needs is the same on both sides.
func (w *world) compareSend(ctx context.Context, effort Effort, _ Options) (pair Pair, err error) {
	pair = Pair{Name: "`send` until the API has the text", Beside: "three tmux calls", Agents: 1}
	if _, err := w.run(ctx, w.nbs("spawn", probe, "--model", "opus")...); err != nil {
		return pair, err
	}
	target := "=nbs-" + probe + "-live:"
	pair.Floor, pair.Ours, err = interleave(ctx, effort,
		w.sent(func(text string) [][]string {
			return [][]string{
				w.tmux("set-buffer", "-b", probe, "--", text),
				w.tmux("paste-buffer", "-p", "-d", "-b", probe, "-t", target),
				w.tmux("send-keys", "-t", target, "Enter"),
			}
		}),
		w.sent(func(text string) [][]string { return [][]string{w.nbs("send", probe, text)} }))
	if err != nil {
		return pair, fmt.Errorf("measure send: %w", err)
	}
	_, err = w.run(ctx, w.nbs("dismiss", probe)...)
	return pair, err
}

// sent samples the time from before the first command until the API has the text.
func (w *world) sent(commands func(text string) [][]string) sampler {
	return func(ctx context.Context) (time.Duration, error) {
		text := fmt.Sprint("hello ", len(w.api.Requests()))
		begun := time.Now()
		for _, argv := range commands(text) {
			if _, err := w.run(ctx, argv...); err != nil {
				return 0, err
			}
		}
		has := func(r api.Request) bool { return strings.HasSuffix(r.Last(), text) }
		at := -1
		err := eventually(ctx, "the API has the text", func() bool {
			at = slices.IndexFunc(w.api.Requests(), has)
			return at >= 0
		})
		if err != nil {
			return 0, err
		}
		return w.api.Requests()[at].Time.Sub(begun), w.answered(ctx, text)
	}
}

// answered waits until the probe has answered a text, and is idle again.
func (w *world) answered(ctx context.Context, text string) error {
	return eventually(ctx, "Claude Code has answered", func() bool {
		said, err := w.run(ctx, w.nbs("session", probe)...)
		files, _ := filepath.Glob(filepath.Join(w.ConfigDir, "projects", "*", "*.jsonl"))
		return err == nil && strings.Contains(said, "idle") && slices.ContainsFunc(files, func(file string) bool {
			written, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(written), "You said: "+text)
		})
	})
}
