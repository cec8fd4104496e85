package proc

import (
	"bytes"
	"os"
	"strconv"

	"nbs-worker/internal/agent"
)

// Carrying returns the live processes of this user in whose start environment the variable has the value. A process
// of another user does not count, although root could read its environment.
func Carrying(name, value string) ([]agent.Identity, error) {
	return ours(func(pid int) bool {
		got, ok := Variable(pid, name)
		return ok && got == value
	})
}

// Find returns the live processes of this user that have the word in their arguments, and whose arguments match. The
// word makes the search through all processes fast. Processes of another user do not count, whatever their name.
func Find(word string, match func(cmdline []string) bool) ([]agent.Identity, error) {
	return ours(func(pid int) bool {
		cmdline, err := readProc(pid, "cmdline")
		return err == nil && bytes.Contains(cmdline, []byte(word)) && match(splitArgs(cmdline))
	})
}

// ours returns the live processes of this user that match. It calls match again after it has identified a process:
// another process may have got the pid in between.
func ours(match func(pid int) bool) ([]agent.Identity, error) {
	pids, err := pids()
	if err != nil {
		return nil, err
	}
	var found []agent.Identity
	for _, pid := range pids {
		if !match(pid) || !IsOurs(pid) {
			continue
		}
		if id, err := Identify(pid); err == nil && match(pid) {
			found = append(found, id)
		}
	}
	return found, nil
}

func pids() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			found = append(found, pid)
		}
	}
	return found, nil
}
