package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
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
