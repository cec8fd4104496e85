package live

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nbs-worker/internal/agent"
)

// Entry is an entry of Claude's registry of running sessions, sessions/<pid>.json: the best source for the state of a
// session. It appears about 0.4 s after the start, when all first-run dialogs are answered. It stays behind when
// claude is killed by SIGKILL or SIGQUIT; then PID and Start name a process that has ended.
type Entry struct {
	PID        int             `json:"pid"`
	SessionID  agent.SessionID `json:"sessionId"` // follows /clear, /branch and /resume
	Cwd        string          `json:"cwd"`
	Start      Start           `json:"procStart"`
	StartedMS  int64           `json:"startedAt"` // since 1970
	Version    string          `json:"version"`
	Kind       string          `json:"kind"`
	Entrypoint string          `json:"entrypoint"` // "cli": a terminal; "sdk-cli": claude -p
	Status     string          `json:"status"`     // "", idle, busy, waiting
	WaitingFor string          `json:"waitingFor"`
	UpdatedMS  int64           `json:"statusUpdatedAt"` // when Status became so, in ms since 1970; 0: not said
	WrittenMS  int64           `json:"updatedAt"`       // when the entry was written
}

// The values of an entry's status, which is empty at first.
const (
	StatusIdle    = "idle"
	StatusBusy    = "busy"
	StatusWaiting = "waiting"
)

// StatusSince returns when the entry got its status, or zero if the entry does not say.
func (e Entry) StatusSince() time.Time {
	if e.UpdatedMS <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(e.UpdatedMS).UTC()
}

// Interactive reports whether the session is at a terminal. Sessions of claude -p, of an editor, or in the background
// are not.
func (e Entry) Interactive() bool { return e.Kind == "interactive" && e.Entrypoint == "cli" }

func parseEntry(data []byte, pid int) (Entry, error) {
	var entry Entry
	if err := json.Unmarshal(data, &entry, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return Entry{}, err
	}
	if entry.PID != pid {
		return Entry{}, fmt.Errorf("it names pid %d", entry.PID)
	}
	return entry, nil
}

// Is reports whether the entry belongs to a recorded process. For an adopted process, the time of registration must
// also be the one of its entry at the adoption.
func (e Entry) Is(p *agent.Process) bool {
	return e.Start.Is(p.Claude().StartTicks) && (p.Adopted == nil || e.StartedMS == p.Adopted.RegisteredMS)
}

// Moved is why an agent is in another conversation than it was started in.
const Moved = "changed inside claude"

// MovedTo is [Registry.MovedTo] of an entry that was read.
func (e Entry) MovedTo(r *agent.Record, report agent.Report, lead time.Duration) (id agent.SessionID, moved bool) {
	if !e.Is(r.Process) || e.SessionID == r.SessionID || e.outdated(r, report, lead) {
		return "", false
	}
	id, err := agent.ParseSessionID(string(e.SessionID))
	return id, err == nil
}

// HookLead is how long the hooks may be ahead of the registry while claude lives and the machine is busy: at a
// /branch, 2.1.197 writes the old id once more after it has called the hooks with the new one.
const HookLead = 10 * time.Second

// outdated reports whether an entry may be from before the agent's move to the recorded conversation. That is so if a
// hook has named that conversation since, or the record has just left the conversation that the entry names.
func (e Entry) outdated(r *agent.Record, report agent.Report, lead time.Duration) bool {
	written := time.UnixMilli(e.WrittenMS)
	if n := len(r.PreviousSessions); n > 0 {
		last := r.PreviousSessions[n-1]
		if last.SessionID == e.SessionID && last.Until.Add(lead).After(written) {
			return true
		}
	}
	return report.Invocation == r.Process.Invocation && report.SessionID == r.SessionID &&
		report.Activity != nil && report.Activity.At.Add(lead).After(written)
}
