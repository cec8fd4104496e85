package claude

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/smallfile"
)

// Live is an entry of Claude's registry of running sessions,
// sessions/<pid>.json: the best witness of what a session is doing. It appears
// about 0.4 s after the start, when all first-run dialogs are answered, and stays
// behind when claude is killed by SIGKILL or SIGQUIT; then PID and StartTicks name
// a process that is gone.
type Live struct {
	PID        int             `json:"pid"`
	SessionID  agent.SessionID `json:"sessionId"` // follows /clear, /branch and /resume
	Cwd        string          `json:"cwd"`
	StartTicks uint64          `json:"procStart,string"` // field 22 of /proc/<pid>/stat
	StartedMS  int64           `json:"startedAt"`        // since 1970
	Version    string          `json:"version"`
	Kind       string          `json:"kind"`
	Entrypoint string          `json:"entrypoint"` // "cli": a terminal; "sdk-cli": claude -p
	Status     string          `json:"status"`     // "", idle, busy, waiting
	WaitingFor string          `json:"waitingFor"`
	UpdatedMS  int64           `json:"statusUpdatedAt"` // when Status became so, in ms since 1970; 0: not said
	WrittenMS  int64           `json:"updatedAt"`       // when the entry was written
}

// The words of an entry's status. Before the first of them it has none.
const (
	StatusIdle    = "idle"
	StatusBusy    = "busy"
	StatusWaiting = "waiting"
)

// StatusSince is when the entry's status became what it is; zero when it does not say.
func (l Live) StatusSince() time.Time {
	if l.UpdatedMS <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(l.UpdatedMS).UTC()
}

const registryLimit = 1 << 16 // bytes; an entry has about 500

// Live reads the registry entry of a process. Errors: [os.ErrNotExist].
func (c Config) Live(pid int) (live Live, err error) {
	err = smallfile.View(c.RegistryEntry(pid), registryLimit, func(data []byte) (err error) {
		live, err = parseLive(data, pid)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("registry entry %s: %w", agent.Quote(c.RegistryEntry(pid)), err)
	}
	return live, err
}

func parseLive(data []byte, pid int) (Live, error) {
	var live Live
	if err := json.Unmarshal(data, &live, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return Live{}, err
	}
	if live.PID != pid {
		return Live{}, fmt.Errorf("it names pid %d", live.PID)
	}
	return live, nil
}

// Is tells whether the entry is of a recorded process. Of one that was adopted nothing else
// vouches than what stood in its entry then.
func (l Live) Is(p *agent.Process) bool {
	return l.StartTicks == p.Claude().StartTicks && (p.Adopted == nil || l.StartedMS == p.Adopted.RegisteredMS)
}

// Moved is why an agent is in another conversation than it was started in.
const Moved = "changed inside claude"

// MovedTo tells into which conversation the recorded process has gone by itself: a /clear
// or /branch inside claude changes the id, and only its registry entry names the new one.
// The entry of a claude that was killed stays behind and is as good, with a lead of 0.
func (c Config) MovedTo(r *agent.Record, report agent.Report, lead time.Duration) (id agent.SessionID, moved bool) {
	if r.Process == nil || r.Process.PID == 0 {
		return "", false
	}
	live, err := c.Live(r.Process.Claude().PID)
	if err != nil {
		return "", false
	}
	return live.MovedTo(r, report, lead)
}

// MovedTo is [Config.MovedTo] of an entry that was read.
func (l Live) MovedTo(r *agent.Record, report agent.Report, lead time.Duration) (id agent.SessionID, moved bool) {
	if !l.Is(r.Process) || l.SessionID == r.SessionID || l.outdated(r, report, lead) {
		return "", false
	}
	id, err := agent.ParseSessionID(string(l.SessionID))
	return id, err == nil
}

// HookLead is how long the hooks may be ahead of the registry while claude lives and the
// machine is busy: at a /branch, 2.1.197 writes the old id once more after it has called
// them with the new one.
const HookLead = 10 * time.Second

// outdated tells whether an entry may be of before the agent went where the record has it: a
// hook has said so, or the record has just left the conversation that the entry names.
func (l Live) outdated(r *agent.Record, report agent.Report, lead time.Duration) bool {
	written := time.UnixMilli(l.WrittenMS)
	if n := len(r.PreviousSessions); n > 0 {
		last := r.PreviousSessions[n-1]
		if last.SessionID == l.SessionID && last.Until.Add(lead).After(written) {
			return true
		}
	}
	return report.Invocation == r.Process.Invocation && report.SessionID == r.SessionID &&
		report.Activity != nil && report.Activity.At.Add(lead).After(written)
}

// registry is the folder in which each claude says what it does.
func (c Config) registry() string { return filepath.Join(c.dir, "sessions") }

// RegistryEntry is the file in which a process says what it does, there or not.
func (c Config) RegistryEntry(pid int) string {
	return c.registry() + "/" + entryName(pid)
}

func entryName(pid int) string { return strconv.Itoa(pid) + ".json" }

// Registered lists the pids that have an entry in the registry, live or left behind.
func (c Config) Registered() ([]int, error) {
	entries, err := os.ReadDir(c.registry())
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
func (c Config) OpenOn(id agent.SessionID) ([]Live, error) {
	pids, err := c.Registered()
	if err != nil {
		return nil, err
	}
	var open []Live
	for _, pid := range pids {
		data, err := smallfile.Read(c.RegistryEntry(pid), registryLimit)
		if err != nil || !bytes.Contains(data, []byte(id)) {
			continue // most are of other conversations, and need not be understood
		}
		if live, err := parseLive(data, pid); err == nil && live.SessionID == id {
			open = append(open, live)
		}
	}
	return open, nil
}

// Forget removes the registry entry of a process that was killed before it could. The
// entry of a later process with its pid stays.
func (c Config) Forget(pid int, startTicks uint64) error {
	if live, err := c.Live(pid); err == nil && live.StartTicks != startTicks {
		return nil
	}
	err := os.Remove(c.RegistryEntry(pid))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
