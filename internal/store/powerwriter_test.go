package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// countUp plays the writer of the power cuts: it writes 1, 2, 3 ... into alice's record
// and says each when it is written; stepwise, it waits for a word before each.
func countUp(role, project string, stepwise bool) error {
	write, err := counter(role, project)
	if err != nil {
		return err
	}
	words := bufio.NewReader(os.Stdin)
	for n := 1; ; n++ {
		if stepwise {
			if _, err := words.ReadByte(); err != nil {
				return nil //nolint:nilerr // the test has ended
			}
		}
		if err := write(n); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// counter makes the project and returns what writes a number into the record: the store,
// or one of those that leave out a sync.
func counter(role, project string) (write func(n int) error, err error) {
	if err := os.MkdirAll(project, 0o700); err != nil {
		return nil, err
	}
	s, err := own(Create(project))
	if err != nil {
		return nil, err
	}
	unlock, err := s.LockVerb("alice", "spawn", storetest.SomeTime())
	if err != nil {
		return nil, err
	}
	unlock()
	update := func(n int) error {
		_, err := s.Update(context.Background(), "alice", func(r *agent.Record) error { r.PID = n; return nil })
		return err
	}
	file := path(s, sessions, "alice.json")
	switch role {
	case "count-up-without-folder-sync":
		update = func(n int) error { return renameio.WriteFile(file, numbered(n), 0o600) }
	case "count-up-without-sync":
		update = func(n int) error {
			return errors.Join(os.WriteFile(file+".new", numbered(n), 0o600), os.Rename(file+".new", file))
		}
	}
	return func(n int) error {
		if n > 1 {
			return update(n)
		}
		first := record("alice")
		first.PID = 1
		return s.Insert(context.Background(), first)
	}, nil
}

func numbered(n int) []byte {
	r := record("alice")
	r.PID = n
	text, err := json.Marshal(r)
	storetest.Must(err)
	return text
}

// writer is the other end: the process that counts up.
type writer struct {
	*rig.Child
	t    *testing.T
	out  *os.File
	rest string // of a line that is not read to its end
	said int
}

func (d *disk) startWriter(role ...string) *writer {
	d.t.Helper()
	out, in, err := os.Pipe()
	rig.Must(d.t, err)
	d.t.Cleanup(func() { _ = out.Close() })
	cmd := rig.Command(append([]string{role[0], d.project}, role[1:]...)...)
	cmd.Stdout = in
	w := &writer{Child: rig.StartChild(d.t, cmd), t: d.t, out: out}
	_ = in.Close()
	if len(role) == 1 {
		w.next(w.read)
	}
	return w
}

// until reads what is said up to a moment.
func (w *writer) until(moment time.Time) {
	w.t.Helper()
	rig.Must(w.t, w.out.SetReadDeadline(moment))
	for w.next(w.read) {
	}
	rig.Must(w.t, w.out.SetReadDeadline(time.Time{}))
}

// step lets the writer write once, and returns when it has said so.
func (w *writer) step() {
	w.t.Helper()
	before := w.said
	if _, err := w.Stdin.Write([]byte{'.'}); err != nil {
		w.t.Fatal(err)
	}
	for w.said == before {
		if !w.next(w.read) {
			w.t.Fatal("the writer has ended")
		}
	}
}

// stop suspends the writer, and reads what it has said by then.
func (w *writer) stop() {
	w.t.Helper()
	w.signal(syscall.SIGSTOP)
	rig.Eventually(w.t, "the writer is stopped", func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(w.Process.Pid), "stat"))
		_, state, _ := strings.Cut(string(stat), ") ")
		return err == nil && strings.HasPrefix(state, "T")
	})
	for w.next(w.readAvailable) {
	}
}

func (w *writer) goOn() { w.signal(syscall.SIGCONT) }

func (w *writer) signal(signal syscall.Signal) {
	w.t.Helper()
	rig.Must(w.t, w.Process.Signal(signal))
}

// next takes in what a read brings; false when it brings nothing.
func (w *writer) next(read func([]byte) int) bool {
	w.t.Helper()
	piece := make([]byte, 4096)
	n := read(piece)
	lines := strings.Split(w.rest+string(piece[:max(0, n)]), "\n")
	w.rest = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		number, err := strconv.Atoi(line)
		if err != nil {
			w.t.Fatalf("the writer says %q", line)
		}
		w.said = number
	}
	return n > 0
}

func (w *writer) read(piece []byte) int {
	n, _ := w.out.Read(piece)
	return n
}

// readAvailable does not wait.
func (w *writer) readAvailable(piece []byte) int {
	conn, err := w.out.SyscallConn()
	rig.Must(w.t, err)
	n := 0
	rig.Must(w.t, conn.Read(func(fd uintptr) bool { n, _ = unix.Read(int(fd), piece); return true }))
	return n
}
