package proc

import (
	"errors"
	"os"

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

// Check reports whether the identified process lives. It compares the whole identity.
func Check(id agent.Identity) (Liveness, error) {
	liveness, _, err := CheckEnding(id)
	return liveness, err
}

// CheckEnding is [Check]. It also reports whether a process that is Alive has been killed or is exiting: it does
// nothing any more, and the kernel will soon remove it.
func CheckEnding(id agent.Identity) (liveness Liveness, ending bool, err error) {
	if liveness, err := checkPlace(id); liveness != Alive {
		return liveness, false, err
	}
	if liveness, known := checkInode(id); known && liveness != Alive {
		return liveness, false, nil
	}
	return checkStart(id)
}

// IsAlive reports whether a process was seen to live. Like [IsGone], it is false for a process that
// cannot be judged.
func IsAlive(id agent.Identity) bool {
	liveness, _ := Check(id)
	return liveness == Alive
}

// IsGone reports whether a process was seen to have ended.
func IsGone(id agent.Identity) bool {
	liveness, _ := Check(id)
	return liveness == Gone
}

// HasEnded reports whether a process was seen to have ended, or to have been killed or to be exiting: it does nothing
// any more.
func HasEnded(id agent.Identity) bool {
	liveness, ending, _ := CheckEnding(id)
	return liveness == Gone || liveness == Alive && ending
}

// IsEnding reports whether the process with a pid has ended, waited for or not, or has been sent SIGKILL.
func IsEnding(pid int) bool {
	stat, err := readKilled(pid)
	return errors.Is(err, os.ErrNotExist) || err == nil && stat.ending()
}

// checkPlace compares boot, namespace and host. Alive means that the process may live.
func checkPlace(id agent.Identity) (Liveness, error) {
	where, err := place()
	switch {
	case err != nil:
		return Unsure, err
	case id.PID <= 0:
		return Gone, nil
	case id.BootID != where.bootID && id.Host != where.host:
		return Foreign, nil // another machine's, or this one's after it was renamed and restarted
	case id.BootID != where.bootID:
		return Gone, nil
	case id.PIDNS != where.pidNS:
		return Foreign, nil
	}
	return Alive, nil
}

// checkInode compares the inode of the pid's pidfd. known is false if the record has no inode, or the kernel did not
// answer.
func checkInode(id agent.Identity) (liveness Liveness, known bool) {
	if id.PidfdInode == 0 {
		return Unsure, false
	}
	found, ended, err := inode(id.PID)
	switch {
	case errors.Is(err, os.ErrNotExist) || err == nil && (ended || found != id.PidfdInode):
		return Gone, true
	case err != nil:
		return Unsure, false
	}
	return Alive, true
}

// checkStart compares the start time of the process.
func checkStart(id agent.Identity) (liveness Liveness, ending bool, err error) {
	stat, err := readKilled(id.PID)
	if errors.Is(err, os.ErrNotExist) {
		return Gone, false, nil
	}
	if err != nil {
		return Unsure, false, err
	}
	if stat.startTicks != id.StartTicks || stat.gone() {
		return Gone, false, nil
	}
	return Alive, stat.ending(), nil
}

// Rebooted reports whether the identified process ran under an earlier boot of this
// host.
func Rebooted(id agent.Identity) bool {
	where, err := place()
	return err == nil && id.Host == where.host && id.BootID != "" && id.BootID != where.bootID
}
