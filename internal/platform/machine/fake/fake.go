// Package fake is a machine that is a table of processes, for tests of policy. It behaves like Linux or like macOS.
package fake

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine"
)

// Process is an entry of the table.
type Process struct {
	Parent   int
	Group    int // 0: its parent's
	Session  int // 0: its parent's
	Birth    uint64
	Name     string
	Terminal string
	Args     []string
	Env      []string
	Folder   string
	Opened   []string
	Program  string // path
	Owner    int
	Begun    time.Time // until then its folder cannot be read
	Ending   bool
	Halted   bool
	Zombie   bool // it has ended and waits only to be reaped
}

// Machine is a table of processes by their pids. Fields may be changed before the machine is used.
type Machine struct {
	Place   machine.Place
	Boot    time.Time
	Mac     bool // it behaves like macOS
	Ignores bool // no process ends by SIGTERM

	mu        sync.Mutex
	processes map[int]Process
	signals   map[int][]syscall.Signal
	ended     map[int]chan struct{}
}

// New returns a machine without processes. It behaves like Linux, or like macOS in the second run of [OnEach].
func New() *Machine {
	m := &Machine{
		Place: machine.Place{BootID: "boot", PIDNS: 1, Host: "host"}, Boot: time.Unix(1_771_500_000, 0), Mac: likeMac.Load(),
		processes: map[int]Process{}, signals: map[int][]syscall.Signal{}, ended: map[int]chan struct{}{},
	}
	if m.Mac {
		m.Place.PIDNS = 0
	}
	return m
}

// Machine returns the table as a machine.
func (m *Machine) Machine() *machine.Machine { return machine.New(kernel{m}) }

// Add starts a process of this user, and returns its identity.
func (m *Machine) Add(pid int, p Process) agent.Identity {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.Birth = cmp.Or(p.Birth, m.birthOf(pid))
	if p.Owner == 0 {
		p.Owner = os.Geteuid()
	}
	m.processes[pid], m.ended[pid] = p, make(chan struct{})
	return agent.Identity{Identified: agent.Identified{PID: pid, StartTicks: p.Birth}, BootID: m.Place.BootID, PIDNS: m.Place.PIDNS, Host: m.Place.Host}
}

// birthOf returns when a process started: in clock ticks since the boot, or in microseconds.
func (m *Machine) birthOf(pid int) uint64 {
	at := uint64(pid) * 10 //nolint:gosec // a pid is positive
	if m.Mac {
		at = uint64(m.Boot.UnixMicro()) + at*1_000_007
	}
	return at
}

// AddServer starts a tmux server. On macOS it keeps the name of its program.
func (m *Machine) AddServer(pid int, p Process) agent.Identity {
	if p.Name = "tmux: server"; m.Mac {
		p.Name = "tmux"
	}
	return m.Add(pid, p)
}

// Registered returns the start of a process as Claude's registry has it.
func (m *Machine) Registered(id agent.Identity) string {
	if m.Mac {
		return time.UnixMicro(int64(id.StartTicks)).UTC().Format(time.ANSIC) //nolint:gosec // far below the limit
	}
	return strconv.FormatUint(id.StartTicks, 10)
}

// End ends a process. The first process becomes the parent of its children.
func (m *Machine) End(pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, lives := m.processes[pid]; !lives {
		return
	}
	for child, p := range m.processes {
		if p.Parent == pid {
			p.Group, p.Session = m.groupOf(child), m.sessionOf(child)
			p.Parent = 1
			m.processes[child] = p
		}
	}
	delete(m.processes, pid)
	close(m.ended[pid])
}

// groupOf and sessionOf return what a process has inherited, or begun.
func (m *Machine) groupOf(pid int) int {
	p := m.processes[pid]
	if _, there := m.processes[p.Parent]; p.Group != 0 || !there || p.Parent == 1 {
		return cmp.Or(p.Group, pid)
	}
	return m.groupOf(p.Parent)
}

func (m *Machine) sessionOf(pid int) int {
	p := m.processes[pid]
	if _, there := m.processes[p.Parent]; p.Session != 0 || !there || p.Parent == 1 {
		return cmp.Or(p.Session, pid)
	}
	return m.sessionOf(p.Parent)
}

// Signals returns what a process was sent.
func (m *Machine) Signals(pid int) []syscall.Signal {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.signals[pid])
}

func (m *Machine) at(pid int) (Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, lives := m.processes[pid]; lives {
		return p, nil
	}
	return Process{}, os.ErrNotExist
}

// shows reports whether the environment of a process can be read. macOS hides that of programs of the system and of
// protected ones; that of nbs-worker it shows.
func (m *Machine) shows(pid int, p Process) bool {
	program := p.Program
	if program == "" && len(p.Args) > 0 {
		program = p.Args[0]
	}
	return !m.Mac || pid == os.Getpid() || strings.HasPrefix(filepath.Base(program), "nbs-worker")
}
