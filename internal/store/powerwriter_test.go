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

// writer is the other end: the process that counts up, and the file in which it says how far.
type writer struct {
	*rig.Child
	t   *testing.T
	out string
}

func (d *disk) startWriter(role ...string) *writer {
	d.t.Helper()
	out, err := os.Create(filepath.Join(rig.MemoryDir(d.t), "said"))
	rig.Must(d.t, err)
	defer out.Close()
	cmd := rig.Command(append([]string{role[0], d.project}, role[1:]...)...)
	cmd.Stdout = out
	w := &writer{rig.StartChild(d.t, cmd), d.t, out.Name()}
	if len(role) == 1 {
		w.waitSaid(1)
	}
	return w
}

// said is the last number that the writer has said; 0 for none.
func (w *writer) said() int {
	w.t.Helper()
	lines := strings.Split("0\n"+storetest.Read(w.t, w.out), "\n") // what is behind the last line break is not whole
	number, err := strconv.Atoi(lines[len(lines)-2])
	rig.Must(w.t, err)
	return number
}

func (w *writer) waitSaid(number int) {
	w.t.Helper()
	rig.WaitFor(w.t, time.Minute, "the writer counts", func() (bool, string) { return w.said() >= number, strconv.Itoa(w.said()) })
}

// step lets the writer write once, and returns when it has said so.
func (w *writer) step() {
	w.t.Helper()
	before := w.said()
	_, err := w.Stdin.Write([]byte{'.'})
	rig.Must(w.t, err)
	w.waitSaid(before + 1)
}

// stop suspends the writer.
func (w *writer) stop() {
	w.t.Helper()
	rig.Must(w.t, w.Process.Signal(syscall.SIGSTOP))
	rig.Eventually(w.t, "the writer is stopped", func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(w.Process.Pid), "stat"))
		_, state, _ := strings.Cut(string(stat), ") ")
		return err == nil && strings.HasPrefix(state, "T")
	})
}

func (w *writer) goOn() { rig.Must(w.t, w.Process.Signal(syscall.SIGCONT)) }
