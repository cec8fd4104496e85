package machine

import (
	"errors"
	"os"
	"time"

	"nbs-worker/internal/agent"
)

// Liveness is whether an identified process still exists.
type Liveness int

// Unsure is the zero value: a failed query does not mean that the process has ended.
const (
	Unsure  Liveness = iota // the query failed
	Alive                   // that very process runs
	Gone                    // it ended, or its pid is another's now; a zombie whose other threads still exit is gone
	Foreign                 // it belongs to another host or pid namespace: not to be judged from here
)

// Identify returns the identity of a live process. Errors: [os.ErrNotExist] when no process has this pid, or only a
// zombie.
func (m *Machine) Identify(pid int) (agent.Identity, error) {
	where, err := m.place()
	if err != nil {
		return agent.Identity{}, err
	}
	stat, err := m.kernel.Stat(pid)
	if err != nil {
		return agent.Identity{}, err
	}
	if stat.Gone {
		return agent.Identity{}, os.ErrNotExist
	}
	return agent.Identity{
		Identified: agent.Identified{PID: pid, StartTicks: stat.Birth},
		BootID:     where.BootID, PIDNS: where.PIDNS, Host: where.Host,
	}, nil
}

// Self returns this process's identity.
func (m *Machine) Self() (agent.Identity, error) { return m.Identify(os.Getpid()) }

// Check reports whether the identified process lives. It compares the whole identity.
func (m *Machine) Check(id agent.Identity) (Liveness, error) {
	liveness, _, err := m.CheckEnding(id)
	return liveness, err
}

// CheckEnding is [Machine.Check]. It also reports whether a process that is Alive has been killed or is exiting: it
// does nothing any more, and the kernel will soon remove it.
func (m *Machine) CheckEnding(id agent.Identity) (liveness Liveness, ending bool, err error) {
	if liveness, err := m.checkPlace(id); liveness != Alive {
		return liveness, false, err
	}
	stat, err := m.kernel.Stat(id.PID)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Gone, false, nil
	case err != nil:
		return Unsure, false, err
	case stat.Birth != id.StartTicks || stat.Gone:
		return Gone, false, nil
	}
	return Alive, stat.Ending, nil
}

// checkPlace compares boot, namespace and host. Alive means that the process may live.
func (m *Machine) checkPlace(id agent.Identity) (Liveness, error) {
	where, err := m.place()
	switch {
	case err != nil:
		return Unsure, err
	case id.PID <= 0:
		return Gone, nil
	case id.BootID != where.BootID && id.Host != where.Host:
		return Foreign, nil // another machine's, or this one's after it was renamed and restarted
	case id.BootID != where.BootID:
		return Gone, nil
	case id.PIDNS != where.PIDNS:
		return Foreign, nil
	}
	return Alive, nil
}

// IsAlive reports whether a process was seen to live. Like [Machine.IsGone], it is false for a process that cannot be
// judged.
func (m *Machine) IsAlive(id agent.Identity) bool {
	liveness, _ := m.Check(id)
	return liveness == Alive
}

// IsGone reports whether a process was seen to have ended.
func (m *Machine) IsGone(id agent.Identity) bool {
	liveness, _ := m.Check(id)
	return liveness == Gone
}

// HasEnded reports whether a process was seen to have ended, or to have been killed or to be exiting: it does nothing
// any more.
func (m *Machine) HasEnded(id agent.Identity) bool {
	liveness, ending, _ := m.CheckEnding(id)
	return liveness == Gone || liveness == Alive && ending
}

// IsEnding reports whether the process with a pid has ended, waited for or not, or has been sent SIGKILL.
func (m *Machine) IsEnding(pid int) bool {
	stat, err := m.kernel.Stat(pid)
	return errors.Is(err, os.ErrNotExist) || err == nil && stat.Ending
}

// Rebooted reports whether the identified process ran under an earlier boot of this host.
func (m *Machine) Rebooted(id agent.Identity) bool {
	where, err := m.place()
	return err == nil && id.Host == where.Host && id.BootID != "" && id.BootID != where.BootID
}

// Halted reports whether a process is stopped, as by SIGSTOP, until it is sent SIGCONT. A stop by a tracer does not
// count: the tracer lets the process go on.
func (m *Machine) Halted(pid int) bool {
	stat, err := m.kernel.Stat(pid)
	return err == nil && stat.Halted
}

// Age returns how long ago a process started. Errors: [os.ErrNotExist].
func (m *Machine) Age(pid int) (time.Duration, error) {
	stat, err := m.kernel.Stat(pid)
	if err != nil {
		return 0, err
	}
	return m.kernel.Age(stat.Birth)
}

// Owner returns the user id of a process, of a zombie too. Errors: [os.ErrNotExist].
func (m *Machine) Owner(pid int) (uid int, err error) { return m.kernel.Owner(pid) }

// IsOurs reports whether a process belongs to this user. It returns false if that cannot be read.
func (m *Machine) IsOurs(pid int) bool {
	uid, err := m.kernel.Owner(pid)
	return err == nil && uid == os.Geteuid()
}
