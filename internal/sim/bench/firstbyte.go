package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	bellVariable = "NBS_BENCH_BELL"
	probe        = "probe" // handle of the agent that is started for a sample
	plainSession = "plain" // name of the tmux session that is started for one
	probeID      = "11111111-2222-4333-8444-555555555555"
)

// compareSpawn compares how long it takes until claude's first instruction runs: by spawn, and by tmux alone.
func (w *world) compareSpawn(ctx context.Context, effort Effort, agents int) (Pair, error) {
	pair := Pair{
		Name: "`spawn` until claude's first byte", Beside: "`tmux new-session claude`", Agents: agents, Budget: judged(agents, 25),
	}
	bell, err := w.hangBell()
	if err != nil {
		return pair, err
	}
	defer bell.Close()
	plain := w.rung(bell, w.tmux("new-session", "-d", "-s", plainSession, "-x", "120", "-y", "40", "-e", w.bellEntry(),
		"--", filepath.Join(w.tools, "claude"), "--session-id", probeID, "--model", "opus"),
		w.tmux("kill-session", "-t", "="+plainSession))
	spawn := w.rung(bell, w.nbs("spawn", probe, "--model", "opus", "--no-wait"), w.nbs("dismiss", probe))
	if pair.Floor, pair.Ours, err = interleave(ctx, effort, plain, spawn); err != nil {
		return pair, fmt.Errorf("measure spawn: %w", err)
	}
	return pair, nil
}

// rung samples the time from before a command until the claude that it starts rings, and then runs undo.
func (w *world) rung(bell *net.UnixConn, start, undo []string) sampler {
	return func(ctx context.Context) (time.Duration, error) {
		cmd := w.command(ctx, start...)
		cmd.Env = append(cmd.Env, w.bellEntry())
		begun, err := monotonic()
		if err != nil {
			return 0, err
		}
		if _, _, err := measure(cmd); err != nil {
			return 0, err
		}
		at, err := heard(ctx, bell)
		if err != nil {
			return 0, err
		}
		_, err = w.run(ctx, undo...)
		return at - begun, err
	}
}

func (w *world) bell() string      { return filepath.Join(w.Root, "bell") }
func (w *world) bellEntry() string { return bellVariable + "=" + w.bell() }

func (w *world) hangBell() (*net.UnixConn, error) {
	_ = os.Remove(w.bell()) // of the last comparison, if there was one
	bell, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: w.bell(), Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("hang the bell: %w", err)
	}
	return bell, nil
}

// heard waits for the next ring and says at what time of the monotonic clock it was rung.
func heard(ctx context.Context, bell *net.UnixConn) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = bell.SetReadDeadline(time.Now()) })() // Read then returns
	var message [8]byte
	if _, err := bell.Read(message[:]); err != nil {
		return 0, fmt.Errorf("wait for claude's first byte: %w", errors.Join(ctx.Err(), err))
	}
	return time.Duration(binary.NativeEndian.Uint64(message[:])), nil
}

// monotonic is the clock that all processes of the machine share.
func monotonic() (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, errors.Join(errors.New("read the clock"), err)
	}
	return time.Duration(now.Nano()), nil
}
