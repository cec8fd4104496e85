package fake

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"nbs-worker/internal/platform/machine"
)

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
	if err != nil {
		return machine.Stat{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return machine.Stat{
		Parent: p.Parent, Group: k.groupOf(pid), Session: k.sessionOf(pid), Birth: p.Birth, Name: p.Name, Terminal: p.Terminal,
		Gone: p.Zombie, Ending: p.Ending || p.Zombie, Halted: p.Halted,
	}, nil
}

func (k kernel) Owner(pid int) (int, error) {
	p, err := k.at(pid)
	return p.Owner, err
}

func (k kernel) Arguments(pid int) ([]byte, error) {
	p, err := k.at(pid)
	if p.Zombie {
		return nil, err
	}
	return text(p.Args), err
}

func (k kernel) Environ(pid int) ([]byte, error) {
	p, err := k.at(pid)
	if err == nil && !k.shows(pid, p) {
		return nil, machine.ErrUnknown
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
	p, err := k.at(pid)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return &opened{k.Machine, pid, p.Birth, k.ended[pid], make(chan struct{})}, nil
}

// opened is the handle of a process: a pidfd, or on macOS its pid and birth, which are compared right before a signal.
type opened struct {
	of     *Machine
	pid    int
	birth  uint64
	ended  chan struct{}
	closed chan struct{}
}

func (o *opened) Signal(signal syscall.Signal) error {
	if p, _ := o.of.at(o.pid); p.Birth != o.birth { // it has ended
		return nil
	}
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
