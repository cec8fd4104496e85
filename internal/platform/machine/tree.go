package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/clock"
)

// Carrying returns the live processes of this user in whose start environment the variable has the value. A process
// of another user does not count, although root could read its environment.
func (m *Machine) Carrying(name, value string) ([]agent.Identity, error) {
	return m.ours(func(pid int) bool {
		got, ok := m.Variable(pid, name)
		return ok && got == value
	})
}

// Find returns the live processes of this user that have the word in their arguments, and whose arguments match. The
// word makes the search through all processes fast. Processes of another user do not count, whatever their name.
func (m *Machine) Find(word string, match func(cmdline []string) bool) ([]agent.Identity, error) {
	return m.ours(func(pid int) bool {
		cmdline, err := m.kernel.Arguments(pid)
		return err == nil && bytes.Contains(cmdline, []byte(word)) && match(words(cmdline))
	})
}

// ours returns the live processes of this user that match. It calls match again after it has identified a process:
// another process may have got the pid in between.
func (m *Machine) ours(match func(pid int) bool) ([]agent.Identity, error) {
	pids, err := m.kernel.PIDs()
	if err != nil {
		return nil, err
	}
	var found []agent.Identity
	for _, pid := range pids {
		if !match(pid) || !m.IsOurs(pid) {
			continue
		}
		if id, err := m.Identify(pid); err == nil && match(pid) {
			found = append(found, id)
		}
	}
	return found, nil
}

// Descendants returns the live descendants of a process, parents before children.
// They can be found this way only while the ancestors live: an orphan gets another parent.
func (m *Machine) Descendants(pid int) ([]agent.Identity, error) {
	children, err := m.childrenByParent()
	if err != nil {
		return nil, err
	}
	return m.below(pid, children), nil
}

// below identifies the descendants of a process. It leaves out a child whose pid has passed to another process, and
// the descendants of that one.
func (m *Machine) below(pid int, children map[int][]agent.Identified) (found []agent.Identity) {
	queue := children[pid]
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		id, err := m.Identify(next.PID)
		if err == nil && id.Identified != next {
			continue
		}
		queue = append(queue, children[next.PID]...)
		if err == nil {
			found = append(found, id)
		}
	}
	return found
}

func (m *Machine) childrenByParent() (map[int][]agent.Identified, error) {
	pids, err := m.kernel.PIDs()
	if err != nil {
		return nil, err
	}
	children := make(map[int][]agent.Identified)
	for _, pid := range pids {
		if stat, err := m.kernel.Stat(pid); err == nil && !stat.Gone {
			children[stat.Parent] = append(children[stat.Parent], agent.Identified{PID: pid, StartTicks: stat.Birth})
		}
	}
	return children, nil
}

// Ancestors returns this process's pid, its parent's, and so on up to 1.
func (m *Machine) Ancestors() []int { return m.AncestorsOf(os.Getpid()) }

// AncestorsOf returns a process's pid, its parent's, and so on up to 1.
func (m *Machine) AncestorsOf(pid int) []int {
	var chain []int
	for pid > 0 {
		chain = append(chain, pid)
		stat, err := m.kernel.Stat(pid)
		if err != nil {
			break
		}
		pid = stat.Parent
	}
	return chain
}

// Parent returns the pid of a process's parent, or 0 if it has ended.
func (m *Machine) Parent(pid int) int {
	stat, _ := m.kernel.Stat(pid)
	return stat.Parent
}

// Beside returns the live processes of this user that are in a process group or a session which one of the given
// processes leads. A process keeps both when its parent ends. A leader's pid is given to no other process while the group
// or the session exists, so a group without its leader is not searched for: it may be another's by now.
func (m *Machine) Beside(leaders []agent.Identity) ([]agent.Identity, error) {
	leads := map[int]bool{}
	for _, id := range leaders {
		stat, err := m.kernel.Stat(id.PID)
		if err == nil && stat.Birth == id.StartTicks && !stat.Gone {
			leads[id.PID] = true
		}
	}
	return m.ours(func(pid int) bool {
		stat, err := m.kernel.Stat(pid)
		return err == nil && !leads[pid] && (leads[stat.Group] || leads[stat.Session])
	})
}

// Use is a process that uses a folder.
type Use struct {
	PID  int
	File string // the file below the folder that it has open; "": it works there
}

// In returns the processes that work in a folder or below it, or have a file there open. Those of other users cannot be
// asked, and in some containers neither can the first process. What this process itself has open is left out.
// Errors: another process of this user cannot be asked, although it lives.
func (m *Machine) In(ctx context.Context, folder string) (found []Use, err error) {
	pids, err := m.kernel.PIDs()
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	for _, pid := range pids {
		use, err := m.answer(ctx, pid, folder)
		if err != nil {
			return nil, fmt.Errorf("the folder and the files of process %d: %w", pid, err)
		}
		if use != nil {
			found = append(found, *use)
		}
	}
	return found, nil
}

// answer returns how a process uses a folder; nil if it does not, is ending or is not ours. Two kinds are asked again for a
// while: one that has just begun a user namespace can be asked as soon as it runs its program, and a child of this process
// has what this process has open until it runs its own.
func (m *Machine) answer(ctx context.Context, pid int, folder string) (use *Use, err error) {
	const soon = time.Second
	late := clock.Poll(ctx, soon, func() (bool, error) {
		switch use, err = m.use(pid, folder); {
		case err == nil:
			return use == nil || use.File == "" || !m.isStarting(pid), nil
		case errors.Is(err, os.ErrNotExist) || pid == 1 || !m.IsOurs(pid):
			return true, nil
		}
		_, gone := m.Identify(pid)
		return gone != nil, nil
	})
	if late == nil {
		return use, nil
	}
	return use, err
}

// isStarting reports whether a process may not have been running its own program a moment ago: this process has started it,
// or it has ended meanwhile.
func (m *Machine) isStarting(pid int) bool {
	stat, err := m.kernel.Stat(pid)
	return err != nil || stat.Parent == os.Getpid()
}

// use returns how a process uses a folder; nil if it does not.
func (m *Machine) use(pid int, folder string) (*Use, error) {
	isIn := func(path string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }
	cwd, err := m.kernel.Folder(pid)
	if err != nil {
		return nil, err
	}
	if isIn(cwd) {
		return &Use{PID: pid}, nil
	}
	if pid == os.Getpid() {
		return nil, nil
	}
	opened, err := m.kernel.Opened(pid)
	if i := slices.IndexFunc(opened, isIn); i >= 0 {
		return &Use{pid, opened[i]}, nil
	}
	if errors.Is(err, ErrUnknown) {
		return nil, nil
	}
	return nil, err
}
