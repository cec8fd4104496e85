package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/faults"
)

// worldSession is a tmux session.
type worldSession struct{ name, invocation string }

func (m *team) sessions() []worldSession {
	var found []worldSession
	for line := range strings.Lines(m.Tmux("list-sessions", "-F", "session #{session_name} #{@nbs_invocation}")) {
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

// claudeGone reports whether the claude of the start has ended; its pid may be another's by now.
func (s startOf) claudeGone() bool {
	return e2e.IdentityOf(s.Process.PID) != fmt.Sprint(s.Process.PID, " since ", s.Process.StartTicks)
}

// hasExitOf reports whether the record says how another start ended.
func (s startOf) hasExitOf(other startOf) bool {
	return slices.ContainsFunc(s.Exits, func(e exitOf) bool { return e.Invocation == other.Process.Invocation })
}

// exitOf is how a start ended.
type exitOf struct {
	Invocation string `json:"invocation"`
}

// lastStart reads the record as the file has it; there is false when there is none.
func (m *team) lastStart(handle string) (start startOf, there bool, err error) {
	data, err := os.ReadFile(m.RecordPath(handle))
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
	for _, p := range m.Processes() {
		is := map[faults.Victim]bool{
			faults.Claude:   p.Handle == handle && p.IsClaude(),
			faults.Launcher: p.IsLauncher(m.Worker, handle),
			faults.Server:   p.Name == "tmux: server",
		}
		if is[victim] {
			return m.hold(p.PID)
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
	environ, _ := os.ReadFile(e2e.ProcFile(pid, "environ"))
	if e2e.Dead(pid) || !bytes.Contains(environ, []byte("TMUX_TMPDIR="+m.World.TmuxDir+"\x00")) {
		_ = p.Release()
		return nil
	}
	return p
}
