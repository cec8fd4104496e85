package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// compareAsk compares a turn of a conversation with one of Claude Code alone.
func (w *world) compareAsk(ctx context.Context, effort Effort, opts Options) (pair Pair, err error) {
	pair = Pair{Name: "`ask`", Beside: "`claude -p --resume`", Budget: Budget{Plus: 25}}
	pair.Floor, pair.Ours, err = interleave(ctx, effort, w.plainTurns(opts.Claude), w.askedTurns("cold"))
	if err != nil {
		err = fmt.Errorf("measure a turn: %w", err)
	}
	return pair, err
}

// compareAround compares the same without the time for which claude itself runs, which varies by more from one turn to
// the next than ask adds. It does not see what ask makes claude do.
func (w *world) compareAround(ctx context.Context, effort Effort, opts Options) (pair Pair, err error) {
	pair = Pair{Name: "`ask`, without the time for which claude runs", Beside: "`claude -p --resume`, without it too", Budget: Budget{Plus: 25}}
	ran, stopwatch := filepath.Join(w.Root, "ran"), filepath.Join(opts.Tools, "stopwatch")
	timed := *w
	timed.env = append(slices.Clone(w.env), "NBS_CLAUDE="+stopwatch, "BENCH_CLAUDE="+opts.Claude, "BENCH_RAN="+ran)
	pair.Floor, pair.Ours, err = interleave(ctx, effort, without(ran, timed.plainTurns(stopwatch)), without(ran, timed.askedTurns("timed")))
	if err != nil {
		err = fmt.Errorf("measure what is around a turn: %w", err)
	}
	return pair, err
}

// without subtracts the time that the stopwatch has written down.
func without(ran string, turn sampler) sampler {
	return func(ctx context.Context) (time.Duration, error) {
		took, err := turn(ctx)
		if err != nil {
			return took, err
		}
		text, err := os.ReadFile(ran)
		if err := errors.Join(err, os.Remove(ran)); err != nil { // another turn's time is not to be taken for the next one's
			return took, err
		}
		nanoseconds, err := strconv.ParseInt(string(text), 10, 64)
		return took - time.Duration(nanoseconds), err
	}
}

// compareWarm does so for a turn of a claude that a server has already started. The API's own time is the same on both
// sides, and does not count.
func (w *world) compareWarm(ctx context.Context, effort Effort, opts Options) (pair Pair, err error) {
	pair = Pair{Name: "`ask` of a warm conversation, without the API's own time", Beside: "`claude -p --resume`", Budget: Budget{Times: 0.125}}
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
	pair.Floor, pair.Ours, err = interleave(ctx, effort, w.withoutAPI(w.plainTurns(opts.Claude)), w.withoutAPI(w.askedTurns("warm")))
	if err != nil {
		err = fmt.Errorf("measure a warm turn: %w", err)
	}
	return pair, err
}

// turnsEach is how many turns a conversation has before another one is begun: the more turns a conversation has, the
// longer Claude takes for the next.
const turnsEach = 20

// inConversations samples turns of conversations. The turn that begins a conversation does not count.
func inConversations(begin func(ctx context.Context, n int) (sampler, error)) sampler {
	var turn sampler
	taken := 0
	return func(ctx context.Context) (took time.Duration, err error) {
		if taken%turnsEach == 0 {
			if turn, err = begin(ctx, taken/turnsEach); err != nil {
				return 0, err
			}
		}
		taken++
		return turn(ctx)
	}
}

// withoutAPI subtracts the time for which the API was busy.
func (w *world) withoutAPI(turn sampler) sampler {
	return func(ctx context.Context) (time.Duration, error) {
		before := w.api.Busy()
		took, err := turn(ctx)
		return took - (w.api.Busy() - before), err
	}
}

// askedTurns are turns by ask.
func (w *world) askedTurns(key string) sampler {
	return inConversations(func(ctx context.Context, n int) (sampler, error) {
		turn := w.timed("You said: hello", w.nbs("ask", fmt.Sprint(key, "-", n), "hello")...)
		_, err := turn(ctx)
		return turn, err
	})
}

// plainTurns are turns of Claude Code alone.
func (w *world) plainTurns(claude string) sampler {
	return inConversations(func(ctx context.Context, _ int) (sampler, error) {
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
	})
}
