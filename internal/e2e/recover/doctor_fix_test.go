package recover

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

func TestDoctorFixRemovesWhatNobodyMisses(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	const invocation = "11111111-2222-4333-8444-555555555555"
	launch := m.LaunchFolder()
	m.putAt(filepath.Join(launch, "beta."+invocation+".json"), `{"env":"c2VjcmV0"}`, 2*time.Hour)
	m.putAt(filepath.Join(launch, "gamma."+invocation+".json"), `{"env":"c2VjcmV0"}`, 30*time.Minute)
	m.put("sessions/.beta.json123", "{", 2*time.Hour)
	m.put("sessions/.gamma.json123", "{", 30*time.Minute)
	m.put("sessions/notes.txt", "a person's", 2*time.Hour)
	m.Must(os.Chmod(m.InNbs("journal.jsonl"), 0o644))
	c := m.Doctor(1)
	c.Finds(m.Team, "left.files", "note", "commands that were killed have left 2 files")
	c.Finds(m.Team, "folder.private", "warning", "journal.jsonl\" (mode 0644)")

	fixed := m.Doctor(0, "--fix")
	m.Check(len(fixed.Fixed) == 2 && len(fixed.NotFixed) == 0, "%+v", fixed)
	fixed.IsWell(m.Team, "left.files", "folder.private")
	for name, there := range map[string]bool{
		"sessions/.beta.json123": false, "sessions/.gamma.json123": true, "sessions/notes.txt": true,
	} {
		m.Check(e2e.Exists(m.InNbs(name)) == there, "%s: %t", name, !there)
	}
	left := m.LaunchFiles()
	m.Check(slices.Equal(left, []string{filepath.Join(launch, "gamma."+invocation+".json")}), "launches that are left: %q", left)
	again := m.Doctor(0, "--fix")
	m.Check(len(again.Fixed) == 0, "%+v", again)
	m.MustSay(m.NBS("doctor", "--fix").Stdout, "never touched: records")
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
	m.Doctor(1).Finds(m.Team, "team.moved", "warning", "alpha is in another conversation than its record names: "+moved)
	m.Doctor(0, "--fix").IsWell(m.Team, "team.moved")
	after := m.Session("alpha")
	m.Check(after.SessionID == moved && len(after.PreviousSessions) == 1 && after.PreviousSessions[0].SessionID == before.SessionID, "%+v; before %s", after, before.SessionID)
	m.MustBeInTheJournal("moved", "alpha", moved)
}

// What others could have planted is for a person to judge.
func TestDoctorFixLeavesWhatOthersCouldHaveWritten(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("stop", "alpha")
	m.Must(os.Chmod(m.RecordPath("alpha"), 0o622))
	c := m.Doctor(1, "--fix")
	c.Finds(m.Team, "folder.private", "warning", "can be written by other users (mode 0622)")
	c.Finds(m.Team, "team.records", "failure", "can be written by other users")
	if info, err := os.Stat(m.RecordPath("alpha")); err != nil || info.Mode().Perm() != 0o622 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	m.Must(os.Chmod(m.InNbs(), 0o777))
	m.Doctor(1, "--fix").Finds(m.Team, "folder.project", "failure", "chmod 700")
}

func TestDoctorReadsTheJournal(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.WriteJournal([]byte(m.Journal() + "{\"at\":\n"))
	lines := strings.Count(m.Journal(), "\n")
	m.Doctor(1).Finds(m.Team, "left.journal", "warning", fmt.Sprintf("line %d of the journal is no event", lines))
	m.WriteJournal([]byte(strings.Replace(m.Journal(), `"alpha"`, `"alphb"`, 1)))
	m.Doctor(1).Finds(m.Team, "left.journal", "failure", "line 1: altered")
}
