package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What is on disk: the records and the journal of a team, as its files have them.

// InNbs is a path in the project's .nbs.
func (m *Team) InNbs(names ...string) string {
	return filepath.Join(append([]string{m.World.Project, ".nbs"}, names...)...)
}

// Record reads the record as the file has it.
func (m *Team) Record(handle string) map[string]any {
	m.Helper()
	var fields map[string]any
	m.Must(json.Unmarshal([]byte(m.RecordText(handle)), &fields))
	return fields
}

func (m *Team) RecordText(handle string) string {
	m.Helper()
	data, err := os.ReadFile(m.RecordPath(handle))
	m.Must(err)
	return string(data)
}

func (m *Team) RecordPath(handle string) string { return m.InNbs("sessions", handle+".json") }

func (m *Team) WriteRecord(handle, text string) {
	m.Helper()
	m.Must(os.MkdirAll(filepath.Dir(m.RecordPath(handle)), 0o700))
	m.Must(os.WriteFile(m.RecordPath(handle), []byte(text), 0o600))
}

// SetRecord changes a record behind the program's back.
func (m *Team) SetRecord(handle string, change func(fields map[string]any)) {
	m.Helper()
	fields := m.Record(handle)
	change(fields)
	text, err := json.Marshal(fields)
	m.Must(err)
	m.WriteRecord(handle, string(text))
}

// Process is the process entry of a record.
func Process(fields map[string]any) map[string]any { return fields["process"].(map[string]any) }

// Forge makes a record name another process as the agent's, by pid and start.
func Forge(fields map[string]any, pid int, ticks uint64) {
	fields["pid"], Process(fields)["pid"], Process(fields)["start_ticks"] = pid, pid, ticks
}

// TmuxPlace is the tmux server that a record names.
func TmuxPlace(fields map[string]any) map[string]any { return Process(fields)["tmux"].(map[string]any) }

// Launcher is the pid of the agent's launcher.
func (m *Team) Launcher(handle string) int {
	m.Helper()
	return int(Process(m.Record(handle))["launcher"].(map[string]any)["pid"].(float64))
}

// Journal is the text of the journal; "" before its first line.
func (m *Team) Journal() string {
	m.Helper()
	text, err := os.ReadFile(m.InNbs("journal.jsonl"))
	m.Check(err == nil || os.IsNotExist(err), "%v", err)
	return string(text)
}

// MustBeInTheJournal checks that the journal keeps what happened to a conversation.
func (m *Team) MustBeInTheJournal(event, handle, id string) {
	m.Helper()
	journal := m.Journal()
	for line := range strings.Lines(journal) {
		var said struct {
			Event, Handle string
			SessionID     string `json:"session_id"`
		}
		if json.Unmarshal([]byte(line), &said) == nil && said.Event == event && said.Handle == handle && said.SessionID == id {
			return
		}
	}
	m.Errorf("%s of %s, conversation %s, is not in the journal:\n%s", event, handle, id, journal)
}

func (m *Team) WriteJournal(text []byte) {
	m.Helper()
	m.Must(os.WriteFile(m.InNbs("journal.jsonl"), text, 0o600))
}

// What may stand in .nbs instead of a record of ours: each verb says what is wrong and
// what to do, and changes nothing.

// StoppedAlpha is a team with one agent that does not run.
func (m *Team) StoppedAlpha() Session {
	m.Helper()
	before := m.Remembers("alpha")
	m.OK("stop", "alpha")
	return before
}

// Snapshot is all that is in a file or folder.
func (m *Team) Snapshot(path string) string {
	m.Helper()
	var all strings.Builder
	m.Must(filepath.Walk(path, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			text, _ := os.ReadFile(path)
			fmt.Fprintln(&all, path, info.Mode(), info.Size(), info.ModTime(), string(text))
		}
		return err
	}))
	return all.String()
}
