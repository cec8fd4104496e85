package life

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A script that holds a lock while it spawns does not leave the lock to the tmux server.
func TestLockOfTheCallerStaysTheCallers(t *testing.T) {
	m := standIn(t)
	path := filepath.Join(m.World.Root, "lock")
	lock, err := os.Create(path)
	m.Must(err)
	m.Must(unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	spawn := m.Command([]string{"spawn", "alpha"})
	spawn.ExtraFiles = []*os.File{lock}
	r := m.Finish(spawn)
	m.Check(r.Code == 0, "%s", r)
	m.Must(lock.Close())
	again, err := os.Open(path)
	m.Must(err)
	defer again.Close()
	m.WaitFor("the lock is free", func() (bool, string) { // what another test starts in this moment has it until its exec
		return unix.Flock(int(again.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil, ""
	})
}
