package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/sim/faults"
)

// What is there: every process and tmux session of one team's world.

// worldProcess is a process that was started, through however many others, by a command of the team. All of them carry
// the folder of the team's tmux socket in their environment.
type worldProcess struct {
	pid        int
	name       string // the kernel's
	args       []string
	invocation string // "" for a command, a tmux client, the tmux server
	handle     string
}

func (p worldProcess) String() string {
	return fmt.Sprintf("%d %s %q of %s, invocation %s", p.pid, p.name, p.args, p.handle, p.invocation)
}

// isLauncher tells whether the process leads a pane; an agent's handle on its command line stands for it.
func (p worldProcess) isLauncher(worker, handle string) bool {
	return slices.Equal(p.args, []string{worker, "run", handle})
}

// isClaude tells whether it is a claude on some conversation.
func (p worldProcess) isClaude() bool {
	return len(p.args) > 1 && (p.args[1] == "--session-id" || p.args[1] == "--resume")
}

// isTransient tells whether it is one that ends by itself in a moment: a command, or a tmux client of one.
func (p worldProcess) isTransient(worker string) bool {
	return strings.HasPrefix(p.name, "tmux: client") || len(p.args) > 0 && filepath.Base(p.args[0]) == "tmux" && p.name != "tmux: server" ||
		len(p.args) > 1 && p.args[0] == worker && p.args[1] != "run"
}

func (m *team) processes() []worldProcess {
	mark := []byte("TMUX_TMPDIR=" + m.world.TmuxDir + "\x00")
	var found []worldProcess
	for _, pid := range allPIDs() {
		environ, _ := os.ReadFile(procFile(pid, "environ"))
		if !bytes.Contains(environ, mark) || pid == os.Getpid() {
			continue
		}
		name, _ := os.ReadFile(procFile(pid, "comm"))
		cmdline, _ := os.ReadFile(procFile(pid, "cmdline"))
		if dead(pid) {
			continue
		}
		found = append(found, worldProcess{
			pid: pid, name: strings.TrimSpace(string(name)), args: strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00"),
			invocation: valueIn(environ, "NBS_INVOCATION_ID"), handle: valueIn(environ, "NBS_HANDLE"),
		})
	}
	return found
}

// worldSession is a tmux session.
type worldSession struct{ name, invocation string }

func (m *team) sessions() []worldSession {
	var found []worldSession
	for line := range strings.Lines(m.tmux("list-sessions", "-F", "session #{session_name} #{@nbs_invocation}")) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(words) == 3 && words[0] == "session" { // else tmux says that there is no server
			found = append(found, worldSession{name: words[1], invocation: words[2]})
		}
	}
	return found
}

// startOf is what a record says of an agent's last start, and of the ends of those before.
type startOf struct {
	SessionID string `json:"session_id"`
	Process   struct {
		Invocation string `json:"invocation"`
		PID        int    `json:"pid"`
		StartTicks uint64 `json:"start_ticks"`
		Launcher   struct {
			PID int `json:"pid"`
		} `json:"launcher"`
	} `json:"process"`
	Exits []exitOf `json:"exits"`
}

// claudeGone tells whether the claude of the start has ended; its pid may be another's by now.
func (s startOf) claudeGone() bool {
	return identityOf(s.Process.PID) != fmt.Sprint(s.Process.PID, " since ", s.Process.StartTicks)
}

// hasExitOf tells whether the record says how another start ended.
func (s startOf) hasExitOf(other startOf) bool {
	return slices.ContainsFunc(s.Exits, func(e exitOf) bool { return e.Invocation == other.Process.Invocation })
}

// exitOf is how a start ended.
type exitOf struct {
	Invocation string `json:"invocation"`
}

// lastStart reads the record as the file has it; there is false when there is none.
func (m *team) lastStart(handle string) (start startOf, there bool, err error) {
	data, err := os.ReadFile(m.recordPath(handle))
	if os.IsNotExist(err) {
		return start, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &start)
	}
	return start, true, err
}

// victim finds a process of the agent by what the record says, and before that is written by what it looks like. It is
// held before it is looked at, so that nobody else can be killed.
func (m *team) victim(handle string, victim faults.Victim) *os.Process {
	start, _, _ := m.lastStart(handle)
	recorded := map[faults.Victim]int{faults.Claude: start.Process.PID, faults.Launcher: start.Process.Launcher.PID}[victim]
	if p := m.hold(recorded); p != nil {
		return p
	}
	for _, p := range m.processes() {
		is := map[faults.Victim]bool{
			faults.Claude:   p.handle == handle && p.isClaude(),
			faults.Launcher: p.isLauncher(m.worker, handle),
			faults.Server:   p.name == "tmux: server",
		}
		if is[victim] {
			return m.hold(p.pid)
		}
	}
	return nil
}

// hold returns a living process of the team's, or nil.
func (m *team) hold(pid int) *os.Process {
	if pid == 0 {
		return nil
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	environ, _ := os.ReadFile(procFile(pid, "environ"))
	if dead(pid) || !bytes.Contains(environ, []byte("TMUX_TMPDIR="+m.world.TmuxDir+"\x00")) {
		_ = p.Release()
		return nil
	}
	return p
}
