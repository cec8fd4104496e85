package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a tmux client at work. One poll waits for its end and for both of its pipes:
// os/exec takes three goroutines for that, and tries the kernel before the first start, in a
// tenth of the time of the answer itself.
type process struct {
	pid            int
	pidfd          int // readable when it has ended
	stdout, stderr pipe

	mu     sync.Mutex
	reaped bool // its pid may be another's
}

// startProcess starts a program that reads nothing. Errors: [os.PathError].
func startProcess(binary string, args []string, dir string, env []string) (*process, error) {
	p := &process{pidfd: none, stdout: newPipe(outputLimit), stderr: newPipe(complaintLimit)}
	err := p.start(binary, args, dir, env)
	if err == nil {
		return p, nil
	}
	p.close()
	if _, missing := os.Stat(dir); missing != nil {
		return nil, missing
	}
	return nil, &os.PathError{Op: "start", Path: binary, Err: err}
}

func (p *process) start(binary string, args []string, dir string, env []string) error {
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(null)
	stdout, err := p.stdout.open()
	if err != nil {
		return err
	}
	defer unix.Close(stdout)
	stderr, err := p.stderr.open()
	if err != nil {
		return err
	}
	defer unix.Close(stderr)
	p.pid, err = syscall.ForkExec(binary, append([]string{binary}, args...), &syscall.ProcAttr{
		Dir: dir, Env: env, Files: []uintptr{uintptr(null), uintptr(stdout), uintptr(stderr)},
		Sys: &syscall.SysProcAttr{PidFD: &p.pidfd},
	})
	if err == nil && p.pidfd == none {
		p.kill()
		return errors.Join(errors.New("it takes Linux 5.2"), p.reap())
	}
	return err
}

var errLate = errors.New("it did not end in time")

// wait reads what the process prints until it has ended, and ends it when that takes too
// long. Errors: [errLate], [errFlood], that of ctx, and an exit that is not 0.
func (p *process) wait(ctx context.Context, deadline time.Time) error {
	forget := context.AfterFunc(ctx, p.kill)
	defer forget()
	err := p.read(ctx, deadline)
	p.close()
	if err != nil {
		p.kill()
	}
	exit := p.reap()
	switch {
	case err != nil:
		return err
	case exit != nil && ctx.Err() != nil:
		return ctx.Err() // for which it was killed
	default:
		return exit
	}
}

// read collects what comes out of the process until it has ended and both pipes are closed.
// The pipes of one that has ended may be held by another, which is not waited for long: all
// was written before.
func (p *process) read(ctx context.Context, deadline time.Time) error {
	var ended bool
	for p.stdout.isOpen() || p.stderr.isOpen() || !ended {
		polled := []unix.PollFd{pollFor(p.stdout.fd), pollFor(p.stderr.fd), pollFor(p.pidfd)}
		if ended {
			polled[2] = pollFor(none)
		}
		n, err := unix.Poll(polled, milliseconds(time.Until(deadline)))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return os.NewSyscallError("poll", err)
		case n == 0 && ended:
			return ctx.Err()
		case n == 0:
			return errLate
		}
		if polled[2].Revents != 0 {
			ended = true
			deadline = earlier(deadline, time.Now().Add(lingering(ctx)))
		}
		if err := errors.Join(p.stdout.readIf(polled[0]), p.stderr.readIf(polled[1])); err != nil {
			return err
		}
	}
	return nil
}

const (
	// pipeDelay ends the wait for the output of a client that is done: the client hands its
	// stdout to the server, and a wedged server keeps it open after the client has ended.
	pipeDelay = 500 * time.Millisecond
	// dropDelay is the same for a client that was ended; nobody reads what it said.
	dropDelay = 10 * time.Millisecond
)

func lingering(ctx context.Context) time.Duration {
	if ctx.Err() != nil {
		return dropDelay
	}
	return pipeDelay
}

// kill ends the process, if it has not ended.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = unix.Kill(p.pid, unix.SIGKILL)
	}
}

// close closes what is open of it.
func (p *process) close() {
	p.stdout.close()
	p.stderr.close()
	if p.pidfd != none {
		_ = unix.Close(p.pidfd)
		p.pidfd = none
	}
}

// reap waits until the process has ended and says how, if not well. Its pid stays its own
// until nobody can signal it any more.
func (p *process) reap() error {
	if err := again(func() error { return unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) }); err != nil {
		return os.NewSyscallError("waitid", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	var status unix.WaitStatus
	err := again(func() error {
		_, err := unix.Wait4(p.pid, &status, 0, nil)
		return err
	})
	switch {
	case err != nil:
		return os.NewSyscallError("wait4", err)
	case status.Signaled():
		return fmt.Errorf("ended by signal %d (%s)", status.Signal(), status.Signal())
	case status.ExitStatus() != 0:
		return fmt.Errorf("exit status %d", status.ExitStatus())
	}
	return nil
}

// again repeats a system call that a signal interrupts.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func pollFor(fd int) unix.PollFd {
	return unix.PollFd{Fd: int32(fd), Events: unix.POLLIN} //nolint:gosec // a descriptor fits
}

// milliseconds is how long poll waits: not less than asked for.
func milliseconds(d time.Duration) int {
	return int(max(d+time.Millisecond-1, 0) / time.Millisecond)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
