package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/host"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/jobs"
	"nbs-worker/internal/store/trust"
)

// The tests have an ssh of their own on the PATH: it runs this test binary as a host whose state folder is the
// destination.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[2] == "job" {
		os.Exit(playJob(os.Args[3]))
	}
	if role := rig.Role(); role != nil {
		playHost()
		return
	}
	os.Exit(withSSH(m))
}

func withSSH(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ssh")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	script := `#!/bin/sh
for word; do destination=$last; last=$word; done
if test -e "$destination/refused"; then echo "$destination: Permission denied (publickey)." >&2; exit 255; fi
if test -e "$destination/down"; then echo "ssh: connect to host x port 22: Connection refused" >&2; exit 255; fi
if test -e "$destination/slow-refusal"; then printf . >> "$destination/attempts"; cat "$destination/gate"; echo "Permission denied (publickey)." >&2; exit 255; fi
if test -e "$destination/stuck"; then NBS_TEST_ROLE=stuck exec ` + self + `; fi
if test -e "$destination/old"; then NBS_TEST_ROLE=old exec ` + self + `; fi
if test -e "$destination/mute"; then sleep 300 & echo $! > "$destination/child"; echo > "$destination/gate"; wait; fi
if test -e "$destination/bare"; then echo "env: nbs-worker: Datei oder Verzeichnis nicht gefunden" >&2; exit 127; fi
echo "a line of the shell's own"; echo ".bashrc: fortune: command not found" >&2
XDG_STATE_HOME=$destination NBS_TEST_ROLE=host exec ` + self + "\n"
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o700); err != nil {
		panic(err)
	}
	if err := os.Setenv("PATH", dir+":"+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	return rig.Tight(m)
}

func playHost() {
	if os.Getenv("NBS_TEST_ROLE") == "stuck" {
		playStuck()
		return
	}
	if os.Getenv("NBS_TEST_ROLE") == "old" {
		playOld()
		return
	}
	self, _ := os.Executable()
	s := Server{Jobs: hostJobs(os.Getenv("XDG_STATE_HOME")), Machine: local.New(), Program: self, Version: "1"}
	_ = s.Serve(context.Background(), os.Stdin, os.Stdout)
}

func hostJobs(state string) *jobs.Drawer {
	return jobs.Of(trust.Home(filepath.Join(state, "nbs-worker")))
}

// playJob runs a job as nbs-worker host job does.
func playJob(id string) int {
	state := os.Getenv("XDG_STATE_HOME")
	job, err := hostJobs(state).Find(id)
	if err != nil {
		panic(err)
	}
	self, err := local.New().Self()
	if err != nil {
		panic(err)
	}
	finish, err := job.Begin(context.Background(), self)
	if errors.Is(err, jobs.ErrBegun) {
		return 0
	}
	if err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT)
	defer stop()
	const quicker = 600
	if !job.Keep {
		ctx = job.WhileRead(ctx, job.Patience()/quicker, jobs.SpoolLimit)
	}
	code := playCommand(ctx, state, job.Args)
	if err := finish(code); err != nil {
		panic(err)
	}
	return code
}

// playCommand is what the tests have done at a host. Each command leaves a byte in the file "ran".
func playCommand(ctx context.Context, state string, args []string) (code int) {
	ran, err := os.OpenFile(filepath.Join(state, "ran"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	_, _ = ran.WriteString(".")
	_ = ran.Close()
	switch args[0] {
	case "say":
		fmt.Println(strings.Join(args[1:], " "))
		fmt.Fprintln(os.Stderr, "to stderr")
		return 7
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "two-parts": // the second when the test opens the gate
		fmt.Println("first")
		_, _ = os.ReadFile(filepath.Join(state, "gate")) // a FIFO
		fmt.Println("second")
	case "pour": // the last line when the test opens the gate
		fmt.Print(poured)
		fmt.Println("poured")
		_, _ = os.ReadFile(filepath.Join(state, "gate"))
		fmt.Println("last")
	case "stay":
		fmt.Println("staying")
		<-ctx.Done()
		fmt.Println("left")
		return 130
	}
	return 0
}

// poured is much output.
var poured = strings.Repeat("0123456789abcdef", 6<<16)

// far is a host of the tests.
type far struct {
	*Link

	t     *testing.T
	state string
}

func newFar(t *testing.T) *far {
	t.Helper()
	state := t.TempDir()
	rig.Must(t, syscall.Mkfifo(filepath.Join(state, "gate"), 0o600))
	l := &Link{Host: host.Host{Name: "build1", Destination: state}, Limits: Limits{Contact: time.Minute, Parting: time.Minute}, Log: io.Discard}
	t.Cleanup(l.Close)
	return &far{l, t, state}
}

// ran returns how many commands ran.
func (f *far) ran() int {
	text, err := os.ReadFile(filepath.Join(f.state, "ran"))
	if !errors.Is(err, os.ErrNotExist) {
		rig.Must(f.t, err)
	}
	return len(text)
}

// read returns what a file of the host has.
func (f *far) read(file string) string {
	text, err := os.ReadFile(filepath.Join(f.state, file))
	rig.Must(f.t, err)
	return string(text)
}

// untilWaiting returns when this many requests wait for a connection.
func (f *far) untilWaiting(requests int) {
	for waiting := 0; waiting < requests; runtime.Gosched() {
		f.Link.mu.Lock()
		if f.attempt != nil {
			waiting = f.attempt.waiters
		}
		f.Link.mu.Unlock()
	}
}

// open opens the gate of a command.
func (f *far) open() { rig.Must(f.t, os.WriteFile(filepath.Join(f.state, "gate"), nil, 0)) }

// cut ends the connection, as a network that fails.
func (f *far) cut() {
	f.Link.mu.Lock()
	defer f.Link.mu.Unlock()
	f.Link.conn.close()
}

// become makes the host refuse connections, for a reason.
func (f *far) become(what string) {
	rig.Must(f.t, os.WriteFile(filepath.Join(f.state, what), nil, 0o600))
}
