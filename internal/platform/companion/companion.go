// Package companion is how the two programs of the product find and call each other: nbs-worker, which is in every
// launcher and hook and so links little, and nbs-worker-services beside it, which links what is large.
package companion

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// The programs lie in one folder.
const (
	worker   = "nbs-worker"
	services = "nbs-worker-services"
)

// Worker is the path of nbs-worker, for nbs-worker-services. Errors: Unfit.
func Worker() (string, error) { return beside(worker) }

// Become replaces this process by nbs-worker-services, with a command line. It returns only with an error: Unfit when
// that program is not there.
func Become(args []string) error {
	program, err := beside(services)
	if err != nil {
		return err
	}
	return syscall.Exec(program, append([]string{program}, args...), os.Environ())
}

// tidyTime is how long a child has to end after TERM; then it is killed.
const tidyTime = 10 * time.Second

// Run runs nbs-worker-services with a command line as a child, which ends with the context, and returns its exit code.
// Errors: Unfit when it is not there; those of a child that did not exit by itself.
func Run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) (code int, err error) {
	program, err := beside(services)
	if err != nil {
		return 0, err
	}
	child := exec.CommandContext(ctx, program, args...)
	child.Stdin, child.Stdout, child.Stderr = in, out, errs
	return run(child, tidyTime)
}

// run runs a child to its end. When its context ends, the child gets TERM, and KILL if it has not ended after grace.
func run(child *exec.Cmd, grace time.Duration) (code int, err error) {
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = grace
	err = child.Run()
	if left, is := errors.AsType[*exec.ExitError](err); is && left.Exited() {
		return left.ExitCode(), nil
	}
	return 0, err
}

func beside(name string) (string, error) {
	this, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(this), name)
	if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0 {
		return "", fail.Errorf(fail.Unfit, "the program %s is not beside %s", name, human.Quote(this)).Hint("install both: make install")
	}
	return path, nil
}
