package standin_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 5*time.Minute)) }

// agent is a stand-in on a terminal of its own.
type agent struct {
	t     *testing.T
	world *rig.World
	api   *api.Server
	cmd   *exec.Cmd
	tty   *os.File
	id    string
	ended chan error

	mu  sync.Mutex
	out bytes.Buffer
}

func start(t *testing.T, whims string, args ...string) *agent {
	t.Helper()
	server, err := api.Start(api.Options{})
	rig.Must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	a := &agent{t: t, world: rig.NewWorld(t, server.URL()), api: server, id: uuid.NewString(), ended: make(chan error, 1)}
	a.cmd = exec.Command(rig.StandIn(t), append([]string{"--session-id", a.id, "--permission-mode", "default"}, args...)...)
	a.cmd.Dir, a.cmd.Env = a.world.Project, a.world.Env("NBS_SIM_CLAUDE="+whims)
	a.startOnTerminal()
	go a.listen()
	go func() { a.ended <- a.cmd.Wait() }()
	t.Cleanup(func() { _ = a.cmd.Process.Kill(); _ = a.tty.Close() })
	return a
}

// startOnTerminal makes a pseudo terminal the controlling one of the program.
func (a *agent) startOnTerminal() {
	a.t.Helper()
	master, slave, err := pty.Open()
	rig.Must(a.t, err)
	rig.Must(a.t, pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 120}))
	// A file whose Close does not wait for a Read.
	again, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	rig.Must(a.t, errors.Join(err, unix.SetNonblock(again, true), master.Close()))
	a.tty = os.NewFile(uintptr(again), "terminal")
	defer slave.Close()
	a.cmd.Stdin, a.cmd.Stdout, a.cmd.Stderr = slave, slave, slave
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	rig.Must(a.t, a.cmd.Start())
}

func (a *agent) listen() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := a.tty.Read(buffer)
		a.mu.Lock()
		a.out.Write(buffer[:n])
		a.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (a *agent) output() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out.String()
}

func (a *agent) shows(text string) {
	a.t.Helper()
	rig.WaitFor(a.t, fmt.Sprintf("shows %q", text), func() (bool, string) {
		return strings.Contains(a.output(), text), a.output()
	})
}

func (a *agent) types(text string) {
	a.t.Helper()
	if _, err := a.tty.WriteString(text); err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) registry() (string, bool) {
	data, err := os.ReadFile(filepath.Join(a.world.ConfigDir, "sessions", fmt.Sprintf("%d.json", a.cmd.Process.Pid)))
	return string(data), err == nil
}

func (a *agent) idle() string {
	a.t.Helper()
	var entry string
	rig.WaitFor(a.t, "is idle", func() (bool, string) {
		entry, _ = a.registry()
		return strings.Contains(entry, `"status":"idle"`), entry + a.output()
	})
	return entry
}

func (a *agent) signal(s syscall.Signal) {
	a.t.Helper()
	rig.Must(a.t, a.cmd.Process.Signal(s))
}

func (a *agent) exits() int {
	a.t.Helper()
	select {
	case <-a.ended: //nolint:errcheck // how it ended is in its ProcessState
	case <-rig.Patient(a.t).Done():
		a.t.Fatalf("does not end\n%s", a.output())
	}
	if ws := a.cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return a.cmd.ProcessState.ExitCode()
}

func (a *agent) transcripts() []string {
	found, _ := filepath.Glob(filepath.Join(a.world.ConfigDir, "projects", "*", "*.jsonl")) // constant pattern
	return found
}
