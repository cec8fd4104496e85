package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
)

// Registry is the folder in which each running claude keeps an entry about its state.
type Registry struct{ dir string }

// RegistryIn returns the registry in a folder of Claude's configuration, which need not exist.
func RegistryIn(configDir string) Registry { return Registry{filepath.Join(configDir, "sessions")} }

// Dir returns the path of the folder.
func (r Registry) Dir() string { return r.dir }

// Path returns the file of a process's entry, whether it exists or not.
func (r Registry) Path(pid int) string { return r.dir + "/" + strconv.Itoa(pid) + ".json" }

const registryLimit = 1 << 16 // bytes; an entry has about 500

// Entry reads the entry of a process. Errors: [os.ErrNotExist].
func (r Registry) Entry(pid int) (entry Entry, err error) {
	data, err := smallfile.Read(r.Path(pid), registryLimit)
	if err == nil {
		entry, err = parseEntry(data, pid)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("registry entry %s: %w", human.Quote(r.Path(pid)), err)
	}
	return entry, err
}

// MovedTo returns the conversation to which the recorded process has moved by itself: a
// /clear or /branch inside claude changes the id, and only its registry entry names the new
// one. The entry that a killed claude leaves behind is as good, with a lead of 0.
func (r Registry) MovedTo(record *agent.Record, report agent.Report, lead time.Duration) (id agent.SessionID, moved bool) {
	if record.Process == nil || record.Process.PID == 0 {
		return "", false
	}
	entry, err := r.Entry(record.Process.Claude().PID)
	if err != nil {
		return "", false
	}
	return entry.MovedTo(record, report, lead)
}

// PIDs lists the pids that have an entry, live or left behind.
func (r Registry) PIDs() (pids []int, err error) {
	files, err := os.ReadDir(r.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, file := range files {
		stem, isEntry := strings.CutSuffix(file.Name(), ".json")
		if pid, err := strconv.Atoi(stem); isEntry && err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, err
}

// tornFor is longer than it takes claude to write an entry.
const tornFor = 5 * time.Millisecond

// OpenOn lists the registry entries of a conversation, live or left behind. It reads a torn entry of an existing
// process once more. Then it skips what cannot be read: that may stay so, and must not keep every agent down.
func (r Registry) OpenOn(id agent.SessionID) (open []Entry, err error) {
	pids, err := r.PIDs()
	var torn []int
	for _, pid := range pids {
		entry, err := r.Entry(pid)
		_, unread := errors.AsType[*os.PathError](err)
		switch {
		case err == nil && entry.SessionID == id:
			open = append(open, entry)
		case err != nil && !unread && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH):
			torn = append(torn, pid)
		}
	}
	if len(torn) > 0 {
		time.Sleep(tornFor) //nolint:forbidigo // nothing signals that claude has written an entry
	}
	for _, pid := range torn {
		if entry, err := r.Entry(pid); err == nil && entry.SessionID == id {
			open = append(open, entry)
		}
	}
	slices.SortFunc(open, func(a, b Entry) int { return a.PID - b.PID })
	return open, err
}

// Forget removes the registry entry of a killed process, which could not remove it itself. The entry of a later
// process with the same pid stays.
func (r Registry) Forget(pid int, startTicks uint64) error {
	if entry, err := r.Entry(pid); err == nil && !entry.Start.Is(startTicks) {
		return nil
	}
	err := os.Remove(r.Path(pid))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
