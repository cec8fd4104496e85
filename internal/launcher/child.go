package launcher

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/proc"
)

// command is all that is needed to start claude.
type command struct {
	program    string
	args       []string
	env        []string
	dir        string
	invocation agent.Invocation
	opening    claude.Opening
	config     claude.Config
	now        func() time.Time
	openFiles  uint64 // claude's soft limit; 0: the launcher's own
	follow     func() // the record may have moved to another conversation
}

// child is a claude that was started.
type child struct {
	command
	cmd      *exec.Cmd
	terminal terminal
	started  time.Time
	signals  chan os.Signal
	moves    chan struct{} // has a word when the record may have moved
	memory   proc.MemoryWatch
	hungUp   atomic.Bool // the terminal went away
	entry    atomic.Pointer[live.Held]
}

// ending is how claude ended.
type ending struct {
	err    error // wait itself failed
	status syscall.WaitStatus
	hungUp bool
	oom    uint64 // processes of its memory cgroup that the kernel has killed meanwhile
}

// startChild starts claude on this process's own terminal and in its process group:
// with another group it could not read the terminal, and behind a pipe it would not
// draw. The signals of the keyboard are caught, not ignored, since an ignored
// signal stays ignored in the child.
func startChild(c command) (*child, error) {
	started := &child{command: c, terminal: saveTerminal(), started: c.now(), signals: make(chan os.Signal, 16), moves: make(chan struct{}, 1)}
	signal.Notify(started.signals, unix.SIGINT, unix.SIGQUIT, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGTERM, unix.SIGHUP, observe.FollowSignal)
	cmd := exec.Command(c.program, c.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Dir, cmd.Env = c.dir, c.env
	limitOpenFiles(c.openFiles)
	if err := cmd.Start(); err != nil {
		signal.Stop(started.signals)
		return nil, startFailure(err, c)
	}
	started.cmd = cmd
	started.memory = proc.WatchMemory(cmd.Process.Pid)
	go started.forward()
	go started.followMoves()
	return started, nil
}

// limitOpenFiles gives claude, and the shells of its tools, the soft limit that the
// caller's shell had. A tmux server has a raised one, and hands it to all of its panes;
// programs that close or select on all descriptors they may have take it badly.
func limitOpenFiles(soft uint64) {
	var limit unix.Rlimit
	if soft == 0 || unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return
	}
	limit.Cur = min(soft, limit.Max)
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) // to lower one's own limit is always allowed
}

func startFailure(err error, c command) error {
	if _, statErr := os.Stat(c.dir); statErr != nil {
		return agent.Errorf(agent.NotFound, "the working directory %s is gone", agent.Quote(c.dir)).
			Hint("put the folder back, then resume the agent")
	}
	return agent.Errorf(agent.Unfit, "start claude: %w", err)
}

// forward passes on what asks claude to leave, and keeps the keyboard's signals
// from ending the launcher: claude reads its keys itself.
func (c *child) forward() {
	const settle = 100 * time.Millisecond
	for sig := range c.signals {
		switch sig {
		case unix.SIGHUP:
			c.hungUp.Store(true)
			c.holdEntry()
			_ = c.cmd.Process.Signal(sig)
		case unix.SIGTERM:
			c.holdEntry()
			_ = c.cmd.Process.Signal(sig)
		case observe.FollowSignal:
			c.holdEntry()
			select {
			case c.moves <- struct{}{}:
			default: // one look is asked for already
			}
		case unix.SIGTSTP:
			// C-z makes claude suspend itself, and in a pane nobody types fg.
			time.AfterFunc(settle, func() { _ = c.cmd.Process.Signal(unix.SIGCONT) })
		}
	}
}

// followMoves follows the record beside the signals: it may wait for a lock, and what ends claude
// does not wait for that.
func (c *child) followMoves() {
	for range c.moves {
		c.follow()
	}
}

// holdEntry keeps hold of claude's registry entry, as soon as there is one.
func (c *child) holdEntry() {
	if c.entry.Load() != nil {
		return
	}
	if entry, err := c.config.Registry().Hold(c.pid()); err == nil {
		c.entry.Store(entry)
	}
}

// movedTo tells into which conversation claude had gone by itself when it ended: its registry
// entry does, which a killed one leaves behind and any other takes away.
func (c *child) movedTo(r *agent.Record, report agent.Report) (id agent.SessionID, moved bool) {
	if id, moved = c.config.Registry().MovedTo(r, report, 0); moved {
		return id, true
	}
	if entry := c.entry.Load(); entry != nil {
		return entry.MovedTo(r, report)
	}
	return "", false
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// takeBack kills a claude that must not run, and gives the terminal back.
func (c *child) takeBack() error {
	_ = c.cmd.Process.Kill()
	end := c.wait()
	c.terminal.reset()
	return end.err
}

// ended tells whether claude has already left, though nobody has waited for it.
func (c *child) ended() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, c.pid(), &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo == int32(unix.SIGCHLD)
}

// wait sleeps until claude has ended. The signals stay caught: a hangup that comes late
// must not end the launcher before it has written the exit down.
func (c *child) wait() ending {
	err := c.cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		err = nil
	}
	status, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ending{err: err, status: status, hungUp: c.hungUp.Load() || c.terminal.gone(), oom: c.memory.Kills()}
}

// shellCode is the exit code as a shell reports it.
func (e ending) shellCode() int {
	if e.status.Signaled() {
		return 128 + int(e.status.Signal())
	}
	return e.status.ExitStatus()
}
