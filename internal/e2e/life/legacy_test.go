package life

import (
	"encoding/json"
	"os"
	"testing"

	"nbs-worker/internal/e2e"
)

// Records of the original tools: eight fields, no schema, a bare pid.

// makeLegacy ends an agent and leaves the record that the original tools would have.
func (m *team) makeLegacy(handle string) e2e.Session {
	m.Helper()
	before := m.Remembers(handle)
	m.OK("stop", handle)
	fields := m.Record(handle)
	eight := map[string]any{}
	for _, name := range []string{"handle", "session_id", "model", "tmux_session", "started", "initial_prompt", "project_root", "pid"} {
		eight[name] = fields[name]
	}
	text, err := json.Marshal(eight)
	m.Must(err)
	m.Must(os.RemoveAll(m.InNbs()))
	m.WriteRecord(handle, string(text))
	return before
}

func TestLegacyRecordIsResumedAndRewritten(t *testing.T) {
	m := standIn(t)
	before := m.makeLegacy("theologian")
	s := m.Session("theologian")
	m.Check(!s.Running && s.PID == 0 && s.PermissionMode == "bypassPermissions", "%+v", s)
	m.Refused(8, "the original tools wrote it", "resume", "theologian")
	m.Allow("theologian")
	m.MustRemember("theologian", before)
	record := m.Record("theologian")
	m.Check(record["schema"] == 1.0 && record["config_dir"] == m.World.ConfigDir, "%v", record)
}
