package live

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/smallfile"
)

// Registry is the folder in which each running claude says what it does, in an entry of its own.
type Registry struct{ dir string }

// RegistryIn is the registry in a folder of Claude's configuration, there or not.
func RegistryIn(configDir string) Registry { return Registry{filepath.Join(configDir, "sessions")} }

// Dir is the folder.
func (r Registry) Dir() string { return r.dir }

// Path is the file in which a process says what it does, there or not.
func (r Registry) Path(pid int) string { return r.dir + "/" + strconv.Itoa(pid) + ".json" }

const registryLimit = 1 << 16 // bytes; an entry has about 500

// Entry reads the entry of a process. Errors: [os.ErrNotExist].
func (r Registry) Entry(pid int) (entry Entry, err error) {
	err = smallfile.View(r.Path(pid), registryLimit, func(data []byte) (err error) {
		entry, err = parseEntry(data, pid)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("registry entry %s: %w", agent.Quote(r.Path(pid)), err)
	}
	return entry, err
}

// MovedTo tells into which conversation the recorded process has gone by itself: a /clear
// or /branch inside claude changes the id, and only its registry entry names the new one.
// The entry of a claude that was killed stays behind and is as good, with a lead of 0.
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
func (r Registry) PIDs() ([]int, error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, entry := range entries {
		stem, isEntry := strings.CutSuffix(entry.Name(), ".json")
		if pid, err := strconv.Atoi(stem); isEntry && err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// OpenOn lists the registry entries of a conversation, live or left behind.
// Entries that cannot be read are passed over: they are other sessions' or torn.
func (r Registry) OpenOn(id agent.SessionID) ([]Entry, error) {
	pids, err := r.PIDs()
	if err != nil {
		return nil, err
	}
	var open []Entry
	for _, pid := range pids {
		data, err := smallfile.Read(r.Path(pid), registryLimit)
		if err != nil || !bytes.Contains(data, []byte(id)) {
			continue // most are of other conversations, and need not be understood
		}
		if entry, err := parseEntry(data, pid); err == nil && entry.SessionID == id {
			open = append(open, entry)
		}
	}
	return open, nil
}

// Forget removes the registry entry of a process that was killed before it could. The
// entry of a later process with its pid stays.
func (r Registry) Forget(pid int, startTicks uint64) error {
	if entry, err := r.Entry(pid); err == nil && entry.StartTicks != startTicks {
		return nil
	}
	err := os.Remove(r.Path(pid))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
