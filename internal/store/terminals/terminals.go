// Package terminals keeps which terminals a full screen of ours has taken, and how they were before. So another command
// can give back a terminal whose full screen was killed.
package terminals

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/portable"
	"nbs-worker/internal/store/private"
)

const limit = 1 << 12 // bytes of a file

// Drawer is the terminals of a user.
type Drawer struct{ tree private.Tree }

// Of returns the terminals that are kept in the user's runtime folder. With "" none can be taken.
func Of(runtime string) *Drawer {
	if runtime == "" {
		return &Drawer{private.NoTree}
	}
	return &Drawer{private.Tree(filepath.Join(runtime, "terminals"))}
}

// taken is a terminal that a full screen has taken.
type taken struct {
	By      agent.Identity `json:"by"`
	Session int            `json:"session"` // its leader: a later terminal may get the same device
	Modes   *unix.Termios  `json:"modes"`   // before
}

// Take notes that this process takes a terminal. release forgets it. Errors: those of the terminal and of the folder.
func (d *Drawer) Take(terminal *os.File, by agent.Identity) (release func(), err error) {
	name, err := nameOf(terminal)
	if err != nil {
		return nil, err
	}
	modes, err := portable.Modes(terminal)
	if err != nil {
		return nil, err
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return nil, err
	}
	if err := d.tree.HandOver(name, taken{by, session, modes}, limit); err != nil {
		return nil, err
	}
	return func() { _ = d.tree.Remove(name) }, nil
}

// GiveBack restores the modes of a terminal that a killed process had taken, and forgets it. It reports whether there was
// one; what the process has drawn is for the caller to clear.
func (d *Drawer) GiveBack(terminal *os.File, isAlive func(agent.Identity) bool) (bool, error) {
	name, err := nameOf(terminal)
	if err != nil {
		return false, err
	}
	text, err := d.tree.Read(name, limit)
	if err != nil {
		return false, nil //nolint:nilerr // it was not taken, or not by this user
	}
	var was taken
	session, err := unix.Getsid(0)
	if err != nil {
		return false, err
	}
	isRead := json.Unmarshal(text, &was) == nil
	if isRead && isAlive(was.By) {
		return false, nil
	}
	if err := d.tree.Remove(name); err != nil || !isRead || was.Session != session || was.Modes == nil {
		return false, err
	}
	return true, portable.SetModes(terminal, was.Modes)
}

// nameOf returns the file of a terminal.
func nameOf(terminal *os.File) (string, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(terminal.Fd()), &stat); err != nil {
		return "", fail.Errorf(fail.Failed, "look at the terminal: %w", err)
	}
	return strconv.FormatUint(uint64(stat.Rdev), 16) + ".json", nil //nolint:unconvert // not uint64 on every system
}
