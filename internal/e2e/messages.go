package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Receipt is what send --json tells.
type Receipt struct {
	Handle, Receipt, Channel, UUID, File, Outbox, Reason string
	Reply                                                *string
}

// Send sends and returns the receipt, which must be such.
func (m *Team) Send(code int, want string, args ...string) Receipt {
	m.Helper()
	r := m.NBS(append([]string{"send", "--json"}, args...)...)
	var all []Receipt
	if err := json.Unmarshal([]byte(r.Stdout), &all); err != nil || len(all) != 1 {
		m.Fatalf("send %q: %v, %s", args, err, r)
	}
	m.Check(r.Code == code && all[0].Receipt == want, "send %q: want %s and exit code %d, got %s", args, want, code, r)
	return all[0]
}

// Reply is what an agent answers to a message.
func (m *Team) Reply(args ...string) string {
	m.Helper()
	if got := m.Send(0, "accepted", append([]string{"--wait-reply", "--timeout", Patience()}, args...)...); got.Reply != nil {
		return *got.Reply
	}
	m.Errorf("%q: no reply", args)
	return ""
}

// Kept is what outbox list --json tells of a message.
type Kept struct {
	ID, State, Text, Reason string
	Allowed                 bool
}

func (m *Team) Outbox() (all []Kept) {
	m.Helper()
	m.Must(json.Unmarshal([]byte(m.OK("outbox", "list", "--json")), &all))
	return all
}

// KillDeliverers kills those that the launchers of this team have started.
func (m *Team) KillDeliverers() {
	for _, pid := range m.Deliverers() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Deliverers are the processes that deliver what waits for an agent of the project.
func (m *Team) Deliverers() (pids []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, _ := os.ReadFile(path) // it may have ended meanwhile
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && strings.Contains(string(line), "\x00outbox\x00deliver\x00") && strings.Contains(string(line), m.Dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// What an agent does, told while it does it. The referee is Claude's own registry: from the
// moment at which it says something, the first answer must be right.

// Entry is what Claude's registry says of the team's only claude.
type Entry struct {
	Status          string
	WaitingFor      string
	StatusUpdatedAt int64
}

func (m *Team) Entry() (e Entry) {
	files, _ := filepath.Glob(filepath.Join(m.World.ConfigDir, "sessions", "*.json"))
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			_ = json.Unmarshal(data, &e) // one that is half written is read again
		}
	}
	return e
}

const Question = `{"questions":[{"question":"So?","header":"W","multiSelect":false,"options":[{"label":"L","description":"l"},{"label":"R","description":"r"}]}]}`
