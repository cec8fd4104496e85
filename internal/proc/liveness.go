package proc

import (
	"errors"
	"os"

	"nbs-worker/internal/agent"
)

// Liveness is whether a process that was identified once is still there.
type Liveness int

// Unsure is the zero value: a question that was not answered is not a death.
const (
	Unsure  Liveness = iota // the query failed
	Alive                   // that very process runs
	Gone                    // it ended, or its pid is another's now; a zombie whose other threads still exit is gone
	Foreign                 // it belongs to another host or pid namespace: not to be judged from here
)

// Check tells whether the identified process lives, by all that identifies it.
func Check(id agent.Identity) (Liveness, error) {
	liveness, _, err := CheckEnding(id)
	return liveness, err
}

// CheckEnding is [Check], and tells of one that is Alive whether it has been killed, or is on
// its way out: it does nothing any more, and will be gone as soon as the kernel gets to it.
func CheckEnding(id agent.Identity) (liveness Liveness, ending bool, err error) {
	if liveness, err := checkPlace(id); liveness != Alive {
		return liveness, false, err
	}
	if liveness, known := checkInode(id); known && liveness != Alive {
		return liveness, false, nil
	}
	return checkStart(id)
}

// IsAlive tells whether a process was seen to live, IsGone whether it was seen to have ended.
// Of one that cannot be judged both are false.
func IsAlive(id agent.Identity) bool {
	liveness, _ := Check(id)
	return liveness == Alive
}

// IsGone is the other half of [IsAlive].
func IsGone(id agent.Identity) bool {
	liveness, _ := Check(id)
	return liveness == Gone
}

// checkPlace says Alive of a process that may live, as far as boot, namespace and host tell.
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

// checkInode asks the kernel whose pid it is. A kernel that does not say does not matter.
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

// checkStart compares when the process started.
func checkStart(id agent.Identity) (liveness Liveness, ending bool, err error) {
	stat, err := readStat(id.PID)
	if err == nil && stat.state != 'S' && !stat.ending() {
		// The kernel writes the flags of a line before the signals: one that took a signal up in
		// between shows neither. It was at work then.
		stat, err = readStat(id.PID)
	}
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

// Rebooted tells whether the identified process ran under an earlier boot of this
// host.
func Rebooted(id agent.Identity) bool {
	where, err := place()
	return err == nil && id.Host == where.host && id.BootID != "" && id.BootID != where.bootID
}
