package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/agent"
)

// helperVariable makes the test binary play a child process instead of the tests.
const helperVariable = "NBS_PROC_TEST_HELPER"

func TestMain(m *testing.M) {
	switch role, rest, _ := strings.Cut(os.Getenv(helperVariable), ","); role {
	case "":
		os.Exit(m.Run())
	case "exit":
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
		stay()
	case "stay":
		stay()
	case "parent": // of the roles that follow, each the child of the one before
		startBelow(rest, false)
		stay()
	case "leave-orphan":
		startBelow("stay", true)
	}
}

// stay lets the parent know that all is set up, and ends with it: its stdin closes then.
func stay() {
	fmt.Println(os.Getpid())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startBelow starts a child that shares stdin and stdout, and so announces itself.
func startBelow(role string, newSession bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"="+role)
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: newSession}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// child is a running helper process.
type child struct {
	*exec.Cmd
	t    *testing.T
	said *bufio.Reader
	id   agent.Identity
}

// startChild starts a helper. It does not outlive the test.
func startChild(t *testing.T, role string, change ...func(*exec.Cmd)) *child {
	t.Helper()
	self, err := os.Executable() // whatever folder it is started in
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperVariable+"="+role)
	for _, f := range change {
		f(cmd)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
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
	return &child{Cmd: cmd, t: t, said: bufio.NewReader(stdout)}
}

// startReady starts a helper that stays, and returns when it is set up.
func startReady(t *testing.T, role string, change ...func(*exec.Cmd)) *child {
	t.Helper()
	c := startChild(t, role, change...)
	if pid := c.announced(); pid != c.Process.Pid {
		t.Fatalf("the helper announces pid %d; it is %d", pid, c.Process.Pid)
	}
	id, err := Identify(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	c.id = id
	return c
}

// announced reads the pid of the next process that is set up.
func (c *child) announced() int {
	c.t.Helper()
	line, err := c.said.ReadString('\n')
	if err != nil {
		c.t.Fatalf("a helper did not announce itself: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		c.t.Fatal(err)
	}
	return pid
}

// endedBy waits for a child and returns the signal that ended it.
func (c *child) endedBy() syscall.Signal {
	c.t.Helper()
	_ = c.Wait()
	return c.ProcessState.Sys().(syscall.WaitStatus).Signal()
}

// eventually polls until the condition holds, and fails after ten seconds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}

func wantLiveness(t *testing.T, id agent.Identity, want Liveness) {
	t.Helper()
	if got, err := Check(id); got != want || err != nil {
		t.Errorf("Check(%+v) = %d, %v; want %d", id, got, err, want)
	}
}
