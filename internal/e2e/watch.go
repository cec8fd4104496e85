package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"nbs-worker/internal/sim/rig"
)

// Watcher is a watch at work.
type Watcher struct {
	*Running
	Out     *LockedBuffer
	Notices string // a file: what the program of its policy was told
}

// BeginWatchBy begins a watch by a policy file, and returns when it says to the service manager that
// it is at work.
func (m *Team) BeginWatchBy(path string) *Watcher {
	m.Helper()
	w := &Watcher{Out: &LockedBuffer{}}
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(rig.ShortDir(m), "s"), Net: "unixgram"})
	m.Must(err)
	defer manager.Close()
	w.Running = &Running{Cmd: m.Command([]string{"watch", "--json", "--policy", path}, "NOTIFY_SOCKET="+manager.LocalAddr().String()), Team: m}
	w.Stdout, w.Stderr = w.Out, &w.Err
	m.Must(w.Start())
	m.Must(manager.SetReadDeadline(time.Now().Add(rig.Scaled(time.Minute))))
	ready := make([]byte, 100)
	n, err := manager.Read(ready)
	if err != nil || string(ready[:n]) != "READY=1" {
		m.Fatalf("the service manager was told %q, %v: %s", ready[:n], err, &w.Err)
	}
	return w
}

// Deed is what a watch did to an agent.
type Deed struct{ What, Handle, Detail string }

func (w *Watcher) Deeds() (deeds []Deed) {
	w.Team.Helper()
	for line := range strings.Lines(w.Out.String()) {
		var d Deed
		if strings.HasSuffix(line, "\n") {
			w.Team.Must(json.Unmarshal([]byte(line), &d))
			deeds = append(deeds, d)
		}
	}
	return deeds
}

// WaitDeed waits until the watch has said so of an agent, so many times.
func (w *Watcher) WaitDeed(what, handle string, times int) (last Deed) {
	w.Team.Helper()
	w.Team.WaitFor(fmt.Sprintf("%s is %s, %d times", handle, what, times), func() (bool, string) {
		n := 0
		for _, d := range w.Deeds() {
			if d.What == what && d.Handle == handle {
				last = d
				n++
			}
		}
		return n >= times, w.Out.String()
	})
	return last
}

// Told are the events of an agent of which a person was told.
func (w *Watcher) Told(handle string) string {
	text, _ := os.ReadFile(w.Notices) // nobody was told of anything
	var events []string
	for line := range strings.Lines(string(text)) {
		var n struct {
			Version                int
			Event, Handle, Project string
		}
		w.Team.Must(json.Unmarshal([]byte(line), &n))
		w.Team.Check(n.Version == 2 && n.Project == w.Team.World.Project, "a notice is %s", line)
		if n.Handle == handle {
			events = append(events, n.Event)
		}
	}
	return strings.Join(events, " ")
}

func (w *Watcher) WaitTold(handle, events string) {
	w.Team.Helper()
	w.Team.WaitFor("of "+handle+" is told "+events, func() (bool, string) { got := w.Told(handle); return got == events, got })
}

// WaitRemembers waits until the watch has written down that so many notices were told: one that is
// killed before tells the last once more.
func (w *Watcher) WaitRemembers(notices int) {
	w.Team.Helper()
	w.Team.WaitFor(fmt.Sprintf("%d notices are remembered", notices), func() (bool, string) {
		paths, _ := filepath.Glob(filepath.Join(w.Team.InState("watch"), "*.json")) // the pattern is well formed
		var memory struct {
			Pending []any
			Told    []string `json:"told_at"`
		}
		text := []byte{}
		if len(paths) == 1 {
			text, _ = os.ReadFile(paths[0])
		}
		err := json.Unmarshal(text, &memory)
		return err == nil && len(memory.Pending) == 0 && len(memory.Told) == notices, string(text)
	})
}

// Interrupt ends the watch as a service manager does.
func (w *Watcher) Interrupt() {
	w.Team.Helper()
	w.Team.Must(w.Process.Signal(syscall.SIGTERM))
	r := w.End()
	w.Team.Check(r.Code == 130 && r.Stderr == "", "the watch ended so: %s", r)
}

// Noted are the events of one kind in an agent's journal.
func (m *Team) Noted(handle, event string) (details []string) {
	m.Helper()
	for line := range strings.Lines(m.OK("events", handle, "--json")) {
		var e struct{ Event, Detail string }
		m.Must(json.Unmarshal([]byte(line), &e))
		if e.Event == event {
			details = append(details, e.Detail)
		}
	}
	return details
}

// Journaled are the events of an agent, oldest first, by name and detail.
func (m *Team) Journaled(handle string) (all []string) {
	m.Helper()
	for line := range strings.Lines(m.Journal()) {
		var e struct{ Event, Handle, Detail string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Handle == handle {
			all = append(all, e.Event+": "+e.Detail)
		}
	}
	return all
}
