// Package fake is a machine that is a table of processes, for tests of policy.
package fake

import (
	"context"
	"errors"
	"os"
	"slices"
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
}

// Machine is a table of processes by their pids. Fields may be changed before the machine is used.
type Machine struct {
	Place      machine.Place
	Boot       time.Time
	HidesStart bool // as macOS hides environments
	Ignores    bool // no process ends by SIGTERM

	mu        sync.Mutex
	processes map[int]Process
	signals   map[int][]syscall.Signal
	ended     map[int]chan struct{}
}

// New returns a machine without processes.
func New() *Machine {
	return &Machine{
		Place: machine.Place{BootID: "boot", PIDNS: 1, Host: "host"}, Boot: time.Unix(1_771_500_000, 0),
		processes: map[int]Process{}, signals: map[int][]syscall.Signal{}, ended: map[int]chan struct{}{},
	}
}

// Machine returns the table as a machine.
func (m *Machine) Machine() *machine.Machine { return machine.New(kernel{m}) }

// Add starts a process of this user, and returns its identity.
func (m *Machine) Add(pid int, p Process) agent.Identity {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.Birth == 0 {
		p.Birth = uint64(pid) * 10 //nolint:gosec // a pid is positive
	}
	if p.Owner == 0 {
		p.Owner = os.Geteuid()
	}
	m.processes[pid], m.ended[pid] = p, make(chan struct{})
	return agent.Identity{Identified: agent.Identified{PID: pid, StartTicks: p.Birth}, BootID: m.Place.BootID, PIDNS: m.Place.PIDNS, Host: m.Place.Host}
}

// End ends a process.
func (m *Machine) End(pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, lives := m.processes[pid]; lives {
		delete(m.processes, pid)
		close(m.ended[pid])
	}
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

// kernel is the [machine.Kernel] of a table.
type kernel struct{ *Machine }

func (k kernel) Place() (machine.Place, error)              { return k.Machine.Place, nil }
func (k kernel) BootTime() (time.Time, error)               { return k.Boot, nil }
func (kernel) Load() (float64, error)                       { return 0, machine.ErrUnknown }
func (kernel) Age(uint64) (time.Duration, error)            { return time.Hour, nil }
func (kernel) Children(int) ([]int, error)                  { return nil, machine.ErrUnknown }
func (kernel) HasOpen(int, string) (bool, error)            { return false, machine.ErrUnknown }
func (kernel) Usage(int) (machine.Usage, error)             { return machine.Usage{}, machine.ErrUnknown }
func (kernel) Cgroup(int) (string, error)                   { return "", machine.ErrUnknown }
func (kernel) MemoryKills(int) (machine.MemoryKills, error) { return nil, machine.ErrUnknown }

func (k kernel) PIDs() (pids []int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for pid := range k.processes {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids, nil
}

func (k kernel) Stat(pid int) (machine.Stat, error) {
	p, err := k.at(pid)
	return machine.Stat{Parent: p.Parent, Birth: p.Birth, Name: p.Name, Terminal: p.Terminal, Ending: p.Ending, Halted: p.Halted}, err
}

func (k kernel) Owner(pid int) (int, error) {
	p, err := k.at(pid)
	return p.Owner, err
}

func (k kernel) Arguments(pid int) ([]byte, error) {
	p, err := k.at(pid)
	return text(p.Args), err
}

func (k kernel) Environ(pid int) ([]byte, error) {
	p, err := k.at(pid)
	if err == nil && k.HidesStart {
		err = machine.ErrUnknown
	}
	return text(p.Env), err
}

// text ends each word with a NUL.
func text(words []string) []byte {
	if len(words) == 0 {
		return nil
	}
	return []byte(strings.Join(words, "\x00") + "\x00")
}

func (k kernel) Folder(pid int) (string, error) {
	p, err := k.at(pid)
	if err == nil && time.Now().Before(p.Begun) {
		err = os.ErrPermission
	}
	return p.Folder, err
}

func (k kernel) Opened(pid int) ([]string, error) {
	p, err := k.at(pid)
	return p.Opened, err
}

func (k kernel) Program(pid int) (string, error) {
	p, err := k.at(pid)
	return p.Program, err
}

func (k kernel) Open(pid int) (machine.Process, error) {
	if _, err := k.at(pid); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return &opened{k.Machine, pid, k.ended[pid], make(chan struct{})}, nil
}

// opened is the handle of a process.
type opened struct {
	of     *Machine
	pid    int
	ended  chan struct{}
	closed chan struct{}
}

func (o *opened) Signal(signal syscall.Signal) error {
	o.of.mu.Lock()
	o.of.signals[o.pid] = append(o.of.signals[o.pid], signal)
	o.of.mu.Unlock()
	if signal == syscall.SIGKILL || signal == syscall.SIGTERM && !o.of.Ignores {
		o.of.End(o.pid)
	}
	return nil
}

func (o *opened) Wait(ctx context.Context) error {
	select {
	case <-o.ended:
		return nil
	case <-o.closed:
		return errors.New("the handle is closed")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *opened) Close() error {
	close(o.closed)
	return nil
}
