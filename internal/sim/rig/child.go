package rig

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// roleVariable makes a test binary act as another program instead of running the tests. It holds the role and the
// role's arguments, one a line.
const roleVariable = "NBS_TEST_ROLE"

// Role returns the role of this process and its arguments; nil means to run the tests. It is for TestMain.
func Role() []string {
	role := os.Getenv(roleVariable)
	if role == "" {
		return nil
	}
	return strings.Split(role, "\n")
}

// Command returns a command that runs the test binary in a role.
func Command(role ...string) *exec.Cmd {
	self, err := os.Executable() // absolute: the command may be started in another folder
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"="+strings.Join(role, "\n"))
	return cmd
}

// Stay prints the pid, by which the test learns that this process has done its part, and returns when the test closes
// stdin.
func Stay() {
	fmt.Println(os.Getpid())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// StartBelow starts a role as a child of this child. Both share stdin and stdout, so [Stay] in the new one reports to
// the test, too.
func StartBelow(newSession bool, role ...string) {
	cmd := Command(role...)
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: newSession}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// Child is another process in which the test binary plays a role.
type Child struct {
	*exec.Cmd
	Stdin io.WriteCloser
	t     testing.TB
	said  *bufio.Reader
}

// StartChild starts the command of a role and kills it at the test's end. Said reads its output, unless the command
// has another stdout.
func StartChild(t testing.TB, cmd *exec.Cmd) *Child {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &Child{Cmd: cmd, Stdin: stdin, t: t}
	if cmd.Stdout == nil {
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		c.said = bufio.NewReader(stdout)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return c
}

// Said reads the next number that the child, or one below it, has written.
func (c *Child) Said() int {
	c.t.Helper()
	line, err := c.said.ReadString('\n')
	if err != nil {
		c.t.Fatalf("a child did not do its part: %v", err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		c.t.Fatal(err)
	}
	return number
}

// EndedBy waits for the child and returns the signal that ended it.
func (c *Child) EndedBy() syscall.Signal {
	c.t.Helper()
	_ = c.Wait()
	return c.ProcessState.Sys().(syscall.WaitStatus).Signal()
}
