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
	if err != nil {
		m.Fatal(err)
	}
	if err := os.RemoveAll(m.inNbs()); err != nil {
		m.Fatal(err)
	}
	m.writeRecord(handle, string(text))
	return before
}

func TestLegacyRecordIsResumedAndRewritten(t *testing.T) {
	m := real(t)
	before := m.makeLegacy("theologian")
	if s := m.session("theologian"); s.Running || s.PID != 0 || s.PermissionMode != "bypassPermissions" {
		t.Errorf("%+v", s)
	}
	m.refused(8, "the original tools wrote it", "resume", "theologian")
	m.allow("theologian")
	m.mustRemember("theologian", before)
	if record := m.record("theologian"); record["schema"] != 1.0 || record["config_dir"] != m.world.ConfigDir {
		t.Errorf("%v", record)
	}
}
