package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/private"
)

const (
	socket = "bench" // of tmux -L
	keeper = "keeper"
)

// world is a private place: folders, an environment, a tmux server. Nothing of the user's own is in it but PATH.
type world struct {
	private.World
	worker string // nbs-worker
	tools  string // folder with claude and emptycobra
	env    []string
	api    *api.Server // of a world with the real Claude Code; else nil
}

// newWorld makes the folders and starts the tmux server, by a command line that begins with trace. end removes it all.
func newWorld(ctx context.Context, opts Options, baseURL string, trace ...string) (w *world, err error) {
	root, err := os.MkdirTemp("", "nbsb") // short: the paths of sockets are bounded
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	w = &world{worker: opts.Worker, tools: opts.Tools}
	w.World, err = private.Make(root, baseURL)
	w.env = append(w.Env(), "SHELL=/bin/sh", "NBS_CLAUDE="+opts.claude(), "NBS_TMUX_SOCKET="+socket)
	if err = errors.Join(err, w.configure()); err == nil {
		err = w.startServer(ctx, trace)
	}
	if err != nil {
		return nil, errors.Join(err, w.end(ctx))
	}
	return w, nil
}

// configure makes the real Claude Code take this for the world of a user of long standing.
func (w *world) configure() error {
	data, err := json.Marshal(private.Configuration(w.Project))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.ConfigDir, ".claude.json"), data, 0o600)
}

// startServer starts the tmux server with a session that keeps it running, and with as many descriptors as the hard
// limit allows: a server that has reached its soft limit no longer answers.
func (w *world) startServer(ctx context.Context, trace []string) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raise descriptor limit: %w", err)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raise descriptor limit: %w", err)
	}
	argv := slices.Concat(trace, w.tmux("-f", "/dev/null", "new-session", "-d", "-s", keeper, "--", "cat", "-"))
	cmd := w.command(ctx, argv...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start tmux: %w", err)
	}
	go func() { _ = cmd.Wait() }() // a tracer ends with the server
	return eventually(ctx, "the tmux server is up", func() bool {
		return w.command(ctx, w.tmux("has-session", "-t", "="+keeper)...).Run() == nil
	})
}

// tmux is the command line of a tmux client.
func (w *world) tmux(args ...string) []string { return append([]string{"tmux", "-L", socket}, args...) }

// nbs is the command line of nbs-worker.
func (w *world) nbs(args ...string) []string { return append([]string{w.worker}, args...) }

func (w *world) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = w.Project, w.env
	cmd.WaitDelay = 10 * time.Second // a tmux server that hangs keeps the pipe of its client
	return cmd
}

// run runs a command to its end and returns its output.
func (w *world) run(ctx context.Context, argv ...string) (string, error) {
	_, out, err := measure(w.command(ctx, argv...))
	return out, err
}

// timed samples a command, whose output must hold the words.
func (w *world) timed(words string, argv ...string) sampler {
	return func(ctx context.Context) (time.Duration, error) {
		took, out, err := measure(w.command(ctx, argv...))
		if err == nil && !bytes.Contains([]byte(out), []byte(words)) {
			err = fmt.Errorf("%q: no %q in its output: %.300q", argv, words, out)
		}
		return took, err
	}
}

// measure runs a command and says how long it took from before the fork till after the wait. Its output goes into a
// pipe, as in a script.
func measure(cmd *exec.Cmd) (time.Duration, string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begun := time.Now()
	err := cmd.Run()
	took := time.Since(begun)
	if err != nil {
		err = fmt.Errorf("%q: %w\n%s", cmd.Args, err, stderr.String())
	}
	return took, stdout.String(), err
}

// end kills everything that runs in this world and removes it, also after an interrupt.
func (w *world) end(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	err := eventually(ctx, "the processes of the bench have ended", func() bool { return w.Kill() == 0 })
	return errors.Join(err, eventually(ctx, "its folder is removed", func() bool { return os.RemoveAll(w.Root) == nil }))
}

// patience is for what takes most of a second, and on a slow machine many.
const patience = 5 * time.Minute

// eventually polls until a condition holds.
func eventually(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w", what, ctx.Err())
		}
	}
	return nil
}
