package launcher

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/machine/portable"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/turnfiles"
)

// child is a started claude.
type child struct {
	cmd      *exec.Cmd
	launch   store.Launch
	config   claude.Config
	terminal terminal
	started  time.Time
	memory   machine.MemoryWatch
	look     func(byClock bool) bool   // called when the record may have moved, or a message may wait; returns whether one waits
	looks    chan struct{}             // has an element when a look is requested
	left     chan struct{}             // closed when claude has been waited for
	looked   chan struct{}             // closed after the last look
	hungUp   atomic.Bool               // the terminal was hung up
	asked    atomic.Bool               // the launcher was sent SIGTERM
	wrong    atomic.Pointer[error]     // why the launcher itself ended claude
	ready    atomic.Pointer[time.Time] // when claude was seen to be ready; nil: not yet
	entry    atomic.Pointer[live.Held]
}

// ending describes how claude ended.
type ending struct {
	err    error // wait itself failed
	status syscall.WaitStatus
	hungUp bool
	oom    uint64 // processes of its memory cgroup that the kernel has killed since the start
}

// startChild starts claude as recorded, on this process's own terminal and in its process group. In another group,
// claude could not read the terminal; behind a pipe, it would not draw. The command that wrote the launch file has
// decided how to open the conversation, because it knew how the last start ended. If that has changed since, claude
// refuses to start.
func (l *Launcher) startChild(record *agent.Record, launch store.Launch, look func(bool) bool, signals chan os.Signal) (*child, error) {
	config, err := claude.ConfigOf(&record.Spec, launch.Env)
	if err != nil {
		return nil, err
	}
	opening := cmdline.Opening(launch.Opening)
	if opening == cmdline.OpenNew {
		if err := config.SetStubAside(record.SessionID); err != nil {
			return nil, err
		}
	}
	settings, err := Settings(l.Program, l.Store, config, &record.Spec)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(launch.Claude, cmdline.Args(&record.Spec, opening, launch.Prompt, settings)...)
	cmd.Dir, cmd.Env = record.LaunchCwd(), claude.Env(&record.Spec, launch.Env, l.ours(record, launch.Invocation))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	c := &child{
		cmd: cmd, launch: launch, config: config, terminal: saveTerminal(), started: l.Now(),
		look: look, looks: make(chan struct{}, 1), left: make(chan struct{}), looked: make(chan struct{}),
	}
	if launch.Brief != "" { // claude's first hook reads it there
		if _, err := l.Store.TurnFiles(launch.Invocation).Put(turnfiles.Briefing, launch.Brief); err != nil {
			return nil, err
		}
	}
	catch(signals)
	if err := cmd.Start(); err != nil {
		return nil, startFailure(err, launch.Claude, cmd.Dir)
	}
	c.memory = l.Machine.WatchMemory(c.pid())
	go c.forwardSignals(signals)
	go c.lookAround()
	return c, nil
}

func startFailure(err error, program, dir string) error {
	if _, statErr := os.Stat(dir); statErr != nil {
		return fail.Errorf(fail.NotFound, "the working directory %s is gone", human.Quote(dir)).
			Hint("put the folder back, then resume the agent")
	}
	if passes(err) {
		return fail.Errorf(fail.Failed, "start claude: %w", err)
	}
	isMissing := errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOEXEC) // or its interpreter is missing
	if isMissing || claude.CheckBinary(program) != nil {
		return claude.CannotRun(program, err)
	}
	return fail.Errorf(fail.Unfit, "start claude: %w", err)
}

// passes reports whether a start failed because the machine was short of something, or because the program was being
// installed. The next start may succeed.
func passes(err error) bool {
	return slices.ContainsFunc([]error{unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ETXTBSY, unix.EINTR},
		func(passing error) bool { return errors.Is(err, passing) })
}

// holdEntry opens claude's registry entry once it exists, and keeps it open.
func (c *child) holdEntry() {
	if c.entry.Load() != nil {
		return
	}
	if entry, err := c.config.Registry().Hold(c.pid()); err == nil {
		if !c.entry.CompareAndSwap(nil, entry) {
			_ = entry.Close() // another call was faster
		}
		now := time.Now()
		c.ready.CompareAndSwap(nil, &now)
	}
}

// readyAfter reports whether claude was seen to be ready, and how long after its start; 0 when only a hook showed
// that.
func (c *child) readyAfter(said agent.Report) (after time.Duration, ready bool) {
	if at := c.ready.Load(); at != nil {
		return at.Sub(c.started), true
	}
	return 0, said.Activity != nil
}

func (c *child) dropEntry() {
	if entry := c.entry.Load(); entry != nil {
		_ = entry.Close()
	}
}

// movedTo returns the conversation to which claude had moved by itself before it ended. Its registry entry names it.
// A killed claude leaves the file; any other removes it, so the open entry is read.
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

// takeBack kills a claude that must not run, and restores the terminal.
func (c *child) takeBack() error {
	_ = c.cmd.Process.Kill()
	end := c.wait()
	<-c.looked
	c.terminal.reset()
	return end.err
}

// ended reports whether claude has already left, also when it has not been waited for.
func (c *child) ended() bool { return portable.HasExited(c.pid()) }

// wait sleeps until claude has ended.
func (c *child) wait() ending {
	defer close(c.left)
	err := c.cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		err = nil
	}
	status, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ending{err: err, status: status, hungUp: c.hungUp.Load() || c.terminal.gone(), oom: c.memory.Kills()}
}

// shellCode returns the exit code that a shell would report.
func (e ending) shellCode() int {
	if e.status.Signaled() {
		return 128 + int(e.status.Signal())
	}
	return e.status.ExitStatus()
}
