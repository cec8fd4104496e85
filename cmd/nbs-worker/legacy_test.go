package main

import (
	"encoding/json"
	"os"
	"testing"
)

// Records of the original tools: eight fields, no schema, a bare pid.

// makeLegacy ends an agent and leaves the record that the original tools would have.
func (m *team) makeLegacy(handle string) session {
	m.Helper()
	before := m.remembers(handle)
	m.ok("stop", handle)
	fields := m.record(handle)
	eight := map[string]any{}
	for _, name := range []string{"handle", "session_id", "model", "tmux_session", "started", "initial_prompt", "project_root", "pid"} {
		eight[name] = fields[name]
	}
	text, err := json.Marshal(eight)
	m.must(err)
	m.must(os.RemoveAll(m.inNbs()))
	m.writeRecord(handle, string(text))
	return before
}

func TestLegacyRecordIsResumedAndRewritten(t *testing.T) {
	m := real(t)
	before := m.makeLegacy("theologian")
	s := m.session("theologian")
	m.check(!s.Running && s.PID == 0 && s.PermissionMode == "bypassPermissions", "%+v", s)
	m.refused(8, "the original tools wrote it", "resume", "theologian")
	m.allow("theologian")
	m.mustRemember("theologian", before)
	record := m.record("theologian")
	m.check(record["schema"] == 1.0 && record["config_dir"] == m.world.ConfigDir, "%v", record)
}
