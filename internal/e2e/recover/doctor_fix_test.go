package recover

import (
	"fmt"
	"os"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// doctor --fix does what can lose nothing, and nothing else.

// put writes a file below .nbs, as old as that.
func (m *team) put(name, text string, age time.Duration) {
	m.Helper()
	m.Must(os.MkdirAll(m.InNbs("status"), 0o700))
	m.putAt(m.InNbs(name), text, age)
}

func (m *team) putAt(path, text string, age time.Duration) {
	m.Helper()
	then := time.Now().Add(-age)
	m.Must(os.WriteFile(path, []byte(text), 0o600))
	m.Must(os.Chtimes(path, then, then))
}

// A project in all kinds of trouble: what is in it afterwards is what was in it before.
func TestDoctorFixLosesNothing(t *testing.T) {
	m := standIn(t)
	alpha := m.Remembers("alpha")
	beta := m.Remembers("beta")
	m.OK("stop", "beta")
	m.OK("spawn", "gamma", "--model", "sonnet")
	lost := m.Session("gamma")
	m.Must(os.Rename(m.RecordPath("gamma"), m.RecordPath("gamma")+".aside"))
	m.WriteRecord("delta", `{"handle": "delta"`)
	m.SetRecord("alpha", func(fields map[string]any) { fields["model"] = "opus" })
	m.put("transcript-of-a-person.jsonl", "{}", 2*time.Hour)
	m.Must(os.Chmod(m.RecordPath("beta"), 0o666))
	nbs, config := m.everything(m.InNbs()), m.everything(m.World.ConfigDir)
	names := m.SessionNames()
	m.Doctor(1, "--fix")
	m.mustBeAsBefore(m.InNbs(), nbs, agentsOwn...)
	m.mustBeAsBefore(m.World.ConfigDir, config)
	if e2e.Dead(alpha.RecordedPID) || e2e.Dead(lost.RecordedPID) || m.SessionNames() != names {
		t.Errorf("something was ended: %s, before %s", m.SessionNames(), names)
	}
	m.Must(os.Chmod(m.RecordPath("beta"), 0o600))
	m.MustRemember("beta", beta)
}

// An entry in Claude's registry that outlived its process names the conversation in which
// the agent was.
func TestDoctorFixFollowsAConversation(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("stop", "alpha")
	const moved = "11111111-2222-4333-8444-555555555555"
	r := m.Record("alpha")
	m.Write(m.RegistryEntry(before.RecordedPID), e2e.Encoded(m.Team, map[string]any{
		"pid": before.RecordedPID, "sessionId": moved, "cwd": m.World.Project, "procStart": fmt.Sprintf("%.0f", e2e.Process(r)["start_ticks"]), "status": "idle",
		"updatedAt": time.Now().UnixMilli(),
	}))
	m.Doctor(1).Finds(m.Team, "team.moved", "warning", "alpha is in the conversation "+moved)
	m.Doctor(0, "--fix").IsWell(m.Team, "team.moved")
	after := m.Session("alpha")
	m.Check(after.SessionID == moved && len(after.PreviousSessions) == 1 && after.PreviousSessions[0].SessionID == before.SessionID, "%+v; before %s", after, before.SessionID)
	m.MustBeInTheJournal("moved", "alpha", moved)
}
