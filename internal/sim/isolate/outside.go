package isolate

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// outside starts this program again, as args, in a new namespace, waits for it and returns its exit code.
func outside(args []string) int {
	// Pdeathsig is bound to the thread that forks: it must live until the child has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd := inside(args)
	if err := cmd.Start(); err != nil {
		return failed(fmt.Errorf("start in a new network namespace: %w (root, or unprivileged user namespaces, is needed)", err))
	}
	netns, err := namespaceOf(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Process.Kill()
		return failed(errors.Join(err, cmd.Wait()))
	}
	stop := forward(cmd.Process)
	defer stop()
	err = cmd.Wait()
	sweep(netns)
	return exitCode(err)
}

// inside prepares the second start: same program, same streams, new namespaces.
func inside(args []string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Env = append(os.Environ(), marker+"=inside")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		ownUserNamespace(cmd.SysProcAttr)
	}
	return cmd
}

// ownUserNamespace lets a user who is not root make the network namespace. The ids stay what they are, and the one
// capability that is needed to raise loopback survives the execve.
func ownUserNamespace(attr *syscall.SysProcAttr) {
	uid, gid := os.Getuid(), os.Getgid()
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
}

// forward passes signals on to the child until stop is called.
func forward(child *os.Process) (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for s := range signals {
			_ = child.Signal(s)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// exitCode is the shell's: 128+n for a death by signal n.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return failed(err)
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}
