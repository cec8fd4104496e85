package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// What is on disk: the records and the journal of a team, as its files have them.

// inNbs is a path in the project's .nbs.
func (m *team) inNbs(names ...string) string {
	return filepath.Join(append([]string{m.world.Project, ".nbs"}, names...)...)
}

// record reads the record as the file has it.
func (m *team) record(handle string) map[string]any {
	m.Helper()
	var fields map[string]any
	m.must(json.Unmarshal([]byte(m.recordText(handle)), &fields))
	return fields
}

func (m *team) recordText(handle string) string {
	m.Helper()
	data, err := os.ReadFile(m.recordPath(handle))
	m.must(err)
	return string(data)
}

func (m *team) recordPath(handle string) string { return m.inNbs("sessions", handle+".json") }

func (m *team) writeRecord(handle, text string) {
	m.Helper()
	m.must(os.MkdirAll(filepath.Dir(m.recordPath(handle)), 0o700))
	m.must(os.WriteFile(m.recordPath(handle), []byte(text), 0o600))
}

// setRecord changes a record behind the program's back.
func (m *team) setRecord(handle string, change func(fields map[string]any)) {
	m.Helper()
	fields := m.record(handle)
	change(fields)
	text, err := json.Marshal(fields)
	m.must(err)
	m.writeRecord(handle, string(text))
}

// forgetExits removes what a launcher recorded, as if it had had no time to.
func (m *team) forgetExits(handle string) {
	m.Helper()
	m.setRecord(handle, func(fields map[string]any) { delete(fields, "exits") })
}

// process is the process entry of a record.
func process(fields map[string]any) map[string]any { return fields["process"].(map[string]any) }

// forge makes a record name another process as the agent's, by pid and start.
func forge(fields map[string]any, pid int, ticks uint64) {
	fields["pid"], process(fields)["pid"], process(fields)["start_ticks"] = pid, pid, ticks
	delete(process(fields), "pidfd_inode")
}

// tmuxPlace is the tmux server that a record names.
func tmuxPlace(fields map[string]any) map[string]any { return process(fields)["tmux"].(map[string]any) }

// launcher is the pid of the agent's launcher.
func (m *team) launcher(handle string) int {
	m.Helper()
	return int(process(m.record(handle))["launcher"].(map[string]any)["pid"].(float64))
}

// journal is the text of the journal; "" before its first line.
func (m *team) journal() string {
	m.Helper()
	text, err := os.ReadFile(m.inNbs("journal.jsonl"))
	m.check(err == nil || os.IsNotExist(err), "%v", err)
	return string(text)
}

// mustBeInTheJournal checks that the journal keeps what happened to a conversation.
func (m *team) mustBeInTheJournal(event, handle, id string) {
	m.Helper()
	journal := m.journal()
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
