package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Tampered runs a command under strace, which injects a signal or an error into the n-th system call of a name, as in
// "signal=SIGKILL" and "error=EIO". strace counts the calls of each thread apart. Tampered returns what was written to
// stdout and stderr, and how the command ended.
func Tampered(t testing.TB, cmd *exec.Cmd, call, how string, n int) (out string, end syscall.WaitStatus) {
	t.Helper()
	Needs(t, "strace")
	inject := fmt.Sprintf("inject=%s:%s:when=%d", call, how, n)
	args := []string{"-f", "-qqq", // no --seccomp-bpf: with it strace 6.1 injects no signal
		"-o", os.DevNull, "-e", "trace=" + call, "-e", inject, cmd.Path}
	traced := exec.Command("strace", slices.Concat(args, cmd.Args[1:])...)
	traced.Env, traced.Dir, traced.Stdin = cmd.Env, cmd.Dir, cmd.Stdin
	text, err := traced.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatalf("%s: %v", traced, err)
	}
	return string(text), traced.ProcessState.Sys().(syscall.WaitStatus)
}

// FileCalls are the system calls by which a program changes files. A program that is killed before another call leaves
// the same files as one that is killed before the next of these: the kernel closes its files and releases its locks.
var FileCalls = []string{"openat", "write", "renameat", "unlinkat", "mkdirat", "ftruncate", "fchmod"}

// EachKill kills a program before its first, second, ... system call of each kind, until it survives, and returns the
// number of kills. begin prepares a run and returns the command; check looks at what the run has left.
func EachKill(t testing.TB, calls []string, begin func() (cmd *exec.Cmd, check func(killed bool))) (kills int) {
	t.Helper()
	const most = 2000
	for _, call := range calls {
		for n := 1; ; n++ {
			cmd, check := begin()
			out, end := Tampered(t, cmd, call, "signal=SIGKILL", n)
			if !end.Signaled() && end.ExitStatus() != 0 || n == most {
				t.Fatalf("not killed before %s number %d: exit code %d: %s", call, n, end.ExitStatus(), out)
			}
			check(end.Signaled())
			if t.Failed() {
				t.Fatalf("killed before %s number %d", call, n)
			}
			if !end.Signaled() {
				break
			}
			kills++
		}
	}
	if kills == 0 {
		t.Fatal("nothing was killed: no such call was reached")
	}
	return kills
}

// EachDeath kills a program, or one of the programs that it has started, before its first, second, ... system call of
// each kind, until none of them is killed, and returns the number of runs with a kill. A kind can be several calls, with
// commas between them. begin prepares a run and returns the command; check looks at what the run has left.
func EachDeath(t testing.TB, calls []string, begin func() (cmd *exec.Cmd, check func(killed bool))) (kills int) {
	t.Helper()
	Needs(t, "strace")
	const most = 2000
	log := filepath.Join(t.TempDir(), "strace")
	for _, call := range calls {
		for n := 1; ; n++ {
			cmd, check := begin()
			inject := fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, n)
			traced := exec.Command("strace", slices.Concat([]string{"-f", "-q", "-o", log, "-e", "trace=" + call, "-e", inject, cmd.Path}, cmd.Args[1:])...)
			traced.Env, traced.Dir = cmd.Env, cmd.Dir
			out, err := traced.CombinedOutput()
			text, unread := os.ReadFile(log)
			Must(t, unread)
			killed := strings.Contains(string(text), "+++ killed by SIGKILL +++")
			if !killed && err != nil || n == most {
				t.Fatalf("not killed before %s number %d: %v: %s", call, n, err, out)
			}
			check(killed)
			if t.Failed() {
				t.Fatalf("killed before %s number %d: %v: %s", call, n, err, out)
			}
			if !killed {
				break
			}
			kills++
		}
	}
	return kills
}
