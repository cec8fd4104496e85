// Package tmux runs tmux: a typed client over the binary.
//
// tmux evaluates its arguments: #(...) in names and folders runs a command, a word that ends
// in ';' ends the command, a bare target matches by prefix and by pattern. So no text of the
// user goes into a tmux command. This program makes the names. Targets are exact ('=name') or
// ids, and a pane's command is a few fixed words.
//
// Every call has a deadline, the time that a busy machine needs: a wedged or stopped server does not answer. A server
// that did not answer is not called again for a while. A failed call proves nothing about an agent.
// The package knows neither processes nor .nbs.
package tmux

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// DefaultSocket is the name of the user's own server.
const DefaultSocket = "default"

// The refusals of tmux.
var (
	ErrNoServer  = errors.New("no tmux server is running")
	ErrNoSession = errors.New("no such tmux session")
	ErrDuplicate = errors.New("the tmux session exists already")
)

// Client talks to the tmux server at one socket.
type Client struct {
	binary string
	socket []string // the option that selects it
	path   string   // of the socket
	server *health
	stdin  string // input of its calls
}

// New returns a client for a socket: a path, a name as tmux -L takes it, or "" for
// the user's default server. Errors: Unfit when tmux is not installed; BadInput.
func New(socket string) (*Client, error) { return NewServers().Client(socket) }

// Client returns a client as [New] does. The clients of one server share whether the server was silent.
func (s *Servers) Client(socket string) (*Client, error) {
	binary, err := exec.LookPath("tmux")
	if err != nil {
		return nil, fail.Errorf(fail.Unfit, "tmux is not installed").
			Hint("install it: %s", InstallCommand(runtime.GOOS))
	}
	if strings.ContainsRune(socket, filepath.Separator) {
		if err := agent.CheckPath("tmux socket", socket); err != nil {
			return nil, err
		}
		return &Client{binary: binary, socket: []string{"-S", socket}, path: socket, server: s.at(socket)}, nil
	}
	if socket == "" {
		socket = DefaultSocket
	}
	if agent.CheckTmuxName(socket) != nil {
		return nil, fail.Errorf(fail.BadInput, "tmux socket %s is not valid: use a name of letters, digits, '_' and '-', or an absolute path", human.Quote(socket))
	}
	path := socketPath(socket)
	return &Client{binary: binary, socket: []string{"-L", socket}, path: path, server: s.at(path)}, nil
}

// InstallCommand returns the command that installs tmux on a system, named as Go names it.
func InstallCommand(system string) string {
	if system == "darwin" {
		return "brew install tmux"
	}
	return "apt-get install tmux"
}

// run executes one tmux command line and returns its output. dir becomes the working directory of the client, and of
// a session that it creates. Errors: TimedOut when the server is silent.
func (c *Client) run(ctx context.Context, dir string, args ...string) (string, error) {
	return c.runWithin(ctx, answerLimit, dir, args...)
}

// runWithin is run with another limit, for calls that may take longer than an answer.
func (c *Client) runWithin(ctx context.Context, limit time.Duration, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return c.begin(ctx, dir, args...)()
}

// begin starts one tmux command line, and returns a function that waits for its output until ctx is done. The
// function must be called once, and soon: after ctx is done, an answer that came before does not count.
func (c *Client) begin(ctx context.Context, dir string, args ...string) (wait func() (string, error)) {
	begun := time.Now()
	process, err := c.start(ctx, dir, args...)
	return func() (string, error) {
		if err != nil {
			return "", err
		}
		exit := process.wait(ctx)
		if exit != nil && !errors.Is(exit, errFlood) && ctx.Err() != nil {
			return "", c.notWaitedFor(ctx, time.Since(begun), process.printed())
		}
		return c.said(process, exit)
	}
}

// start starts a client, unless its server is known to be silent.
func (c *Client) start(ctx context.Context, dir string, args ...string) (*process, error) {
	if err := cmp.Or(c.check(), c.server.wasSilent()); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, c.notWaitedFor(ctx, 0, 0)
	}
	started, err := startProcess(c.binary, slices.Concat([]string{"-u"}, c.socket, args), dir, neutralEnv(), c.stdin)
	if err != nil {
		return nil, fail.Errorf(fail.Failed, "tmux: %w", err)
	}
	return started, nil
}

// said returns the output of a client, or the error that its output or exit shows.
func (c *Client) said(process *process, exit error) (string, error) {
	if errors.Is(exit, errFlood) {
		return "", fail.Errorf(fail.Unfit, "tmux printed too much, and was ended").Hint("is it tmux at all? %s -V", c.binary)
	}
	complaint := string(process.stderr.text)
	if exit != nil && complaint == "" {
		return "", fail.Errorf(fail.Failed, "tmux: %w", exit)
	}
	// Some refusals come with exit code 0: the text decides.
	failure := classify(complaint)
	if errors.Is(failure, errNoSocket) {
		return "", fail.Errorf(fail.Failed, "%w", failure).Hint("to look at its folder: df %s", human.ShellWord(filepath.Dir(c.path)))
	}
	if exit != nil || errors.Is(failure, errDenied) {
		return "", failure
	}
	return string(process.stdout.text), nil
}

// notWaitedFor returns the error of a call that timed out, or that the caller has cancelled, after the client had
// printed this many bytes.
func (c *Client) notWaitedFor(ctx context.Context, waited time.Duration, printed int) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fail.Errorf(fail.Interrupted, "stopped waiting for tmux: %w", ctx.Err())
	}
	return c.server.silentFor(waited, printed)
}

// check checks a socket that was chosen by path: tmux itself does not check it.
func (c *Client) check() error {
	if c.socket[0] != "-S" {
		return nil
	}
	return checkSocket(c.path)
}

// Refusals that may come with exit code 0.
var (
	errDenied   = errors.New("the tmux server refuses this user")
	errNoSocket = errors.New("no tmux server can be started there")
)

// classify returns the error for a text of tmux 3.x on stderr.
func classify(stderr string) error {
	text := strings.TrimSpace(stderr)
	for _, known := range []struct {
		text string
		err  error
	}{
		{"no server running", ErrNoServer},
		{"error creating ", errNoSocket},             // its folder is not there, or is full
		{"(No such file or directory)", ErrNoServer}, // no socket; another failure to connect proves nothing
		{"server exited unexpectedly", ErrNoServer},
		{"lost server", ErrNoServer},
		{"can't find session", ErrNoSession},
		{"no such session", ErrNoSession},   // a hook has ended it already
		{"no current target", ErrNoSession}, // a server that is about to end, its last session gone
		{"can't find pane", ErrNoSession},
		{"can't find window", ErrNoSession},
		{"duplicate session", ErrDuplicate},
		{"access not allowed", errDenied},
	} {
		if strings.Contains(text, known.text) {
			return errors.Join(known.err, fail.Errorf(fail.Failed, "tmux: %s", text))
		}
	}
	return fail.Errorf(fail.Failed, "tmux: %s", text)
}

// neutralEnv returns the environment of every client. The first client starts the server, which keeps that
// environment for ever and passes it to all panes. So it has no key, no variable of an agent, and not the TMUX of the
// calling pane.
func neutralEnv() []string {
	env := []string{"LC_ALL=C.UTF-8"}
	for _, name := range []string{"HOME", "PATH", "SHELL", "TERM", "TMUX_TMPDIR", "USER", "LOGNAME", "XDG_RUNTIME_DIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
