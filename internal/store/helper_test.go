package store

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
	"time"

	"nbs-worker/internal/agent"
)

// helperVariable makes the test binary play another nbs-worker: a role, a project
// and what the role needs, each on a line.
const helperVariable = "NBS_STORE_TEST_HELPER"

// All tests run under the umask that protects nothing.
func TestMain(m *testing.M) {
	syscall.Umask(0)
	if role := os.Getenv(helperVariable); role != "" {
		playRole(strings.Split(role, "\n"))
		return
	}
	os.Exit(m.Run())
}

func playRole(words []string) {
	role, project := words[0], words[1]
	s, err := Open(project)
	must(err)
	unlock := func() {}
	defer func() { unlock() }()
	switch role {
	case "verb":
		unlock, err = s.LockVerb(agent.Handle(words[2]), "resume", someTime())
	case "lease-with-child":
		unlock, err = s.AcquireLease(aliceID, Holder{PID: os.Getpid(), Verb: "run", Handle: "alice", Since: someTime()})
		must(err)
		startBelow("stay\n" + project)
	case "count":
		n, _ := strconv.Atoi(words[2])
		must(count(s, n))
	}
	must(err)
	fmt.Println(os.Getpid())
	_, _ = io.Copy(io.Discard, os.Stdin) // it stays as long as the test
}

// startBelow starts a child that shares stdin and stdout, and so announces itself.
func startBelow(role string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"="+role)
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	must(cmd.Start())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func someTime() time.Time { return time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC) }

// other is another process that uses the store.
type other struct {
	*exec.Cmd
	t    *testing.T
	said *bufio.Reader
}

// startOther plays a role in another process. It does not outlive the test.
func startOther(t *testing.T, role ...string) *other {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"="+strings.Join(role, "\n"))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &other{Cmd: cmd, t: t, said: bufio.NewReader(stdout)}
}

// announced returns the pid of the next process that has done its part.
func (o *other) announced() int {
	o.t.Helper()
	line, err := o.said.ReadString('\n')
	if err != nil {
		o.t.Fatalf("a helper did not do its part: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		o.t.Fatal(err)
	}
	return pid
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
