package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// doctor --fix does what can lose nothing, and nothing else.

// put writes a file below .nbs, as old as that.
func (m *team) put(name, text string, age time.Duration) {
	m.Helper()
	m.must(os.MkdirAll(m.inNbs("status"), 0o700))
	m.putAt(m.inNbs(name), text, age)
}

func (m *team) putAt(path, text string, age time.Duration) {
	m.Helper()
	then := time.Now().Add(-age)
	m.must(os.WriteFile(path, []byte(text), 0o600))
	m.must(os.Chtimes(path, then, then))
}

func TestDoctorFixRemovesWhatNobodyMisses(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	const invocation = "11111111-2222-4333-8444-555555555555"
	launch := m.launchFolder()
	m.putAt(filepath.Join(launch, "beta."+invocation+".json"), `{"env":"c2VjcmV0"}`, 2*time.Hour)
	m.putAt(filepath.Join(launch, "gamma."+invocation+".json"), `{"env":"c2VjcmV0"}`, 30*time.Minute)
	m.put("sessions/.beta.json123", "{", 2*time.Hour)
	m.put("sessions/.gamma.json123", "{", 30*time.Minute)
	m.put("sessions/notes.txt", "a person's", 2*time.Hour)
	m.must(os.Chmod(m.inNbs("journal.jsonl"), 0o644))
	c := m.doctor(1)
	c.finds(m, "left.files", "note", "commands that were killed have left 2 files")
	c.finds(m, "folder.private", "warning", "journal.jsonl\" (mode 0644)")

	fixed := m.doctor(0, "--fix")
	m.check(len(fixed.Fixed) == 2 && len(fixed.NotFixed) == 0, "%+v", fixed)
	fixed.isWell(m, "left.files", "folder.private")
	for name, there := range map[string]bool{
		"sessions/.beta.json123": false, "sessions/.gamma.json123": true, "sessions/notes.txt": true,
	} {
		m.check(exists(m.inNbs(name)) == there, "%s: %t", name, !there)
	}
	left := m.launchFiles()
	m.check(slices.Equal(left, []string{filepath.Join(launch, "gamma."+invocation+".json")}), "launches that are left: %q", left)
	again := m.doctor(0, "--fix")
	m.check(len(again.Fixed) == 0, "%+v", again)
	m.mustSay(m.nbs("doctor", "--fix").stdout, "never touched: records")
}

// A project in all kinds of trouble: what is in it afterwards is what was in it before.
func TestDoctorFixLosesNothing(t *testing.T) {
	m := standIn(t)
	alpha := m.remembers("alpha")
	beta := m.remembers("beta")
	m.ok("stop", "beta")
	m.ok("spawn", "gamma", "--model", "sonnet")
	lost := m.session("gamma")
	m.must(os.Rename(m.recordPath("gamma"), m.recordPath("gamma")+".aside"))
	m.writeRecord("delta", `{"handle": "delta"`)
	m.setRecord("alpha", func(fields map[string]any) { fields["model"] = "opus" })
	m.put("transcript-of-a-person.jsonl", "{}", 2*time.Hour)
	m.must(os.Chmod(m.recordPath("beta"), 0o666))
	nbs, config := m.everything(m.inNbs()), m.everything(m.world.ConfigDir)
	names := m.sessionNames()
	m.doctor(1, "--fix")
	m.mustBeAsBefore(m.inNbs(), nbs, agentsOwn...)
	m.mustBeAsBefore(m.world.ConfigDir, config)
	if dead(alpha.RecordedPID) || dead(lost.RecordedPID) || m.sessionNames() != names {
		t.Errorf("something was ended: %s, before %s", m.sessionNames(), names)
	}
	m.must(os.Chmod(m.recordPath("beta"), 0o600))
	m.mustRemember("beta", beta)
}

// An entry in Claude's registry that outlived its process names the conversation in which
// the agent was.
func TestDoctorFixFollowsAConversation(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	const moved = "11111111-2222-4333-8444-555555555555"
	r := m.record("alpha")
	m.write(m.registryEntry(before.RecordedPID), encoded(m, map[string]any{
		"pid": before.RecordedPID, "sessionId": moved, "cwd": m.world.Project, "procStart": fmt.Sprintf("%.0f", process(r)["start_ticks"]), "status": "idle",
		"updatedAt": time.Now().UnixMilli(),
	}))
	m.doctor(1).finds(m, "team.moved", "warning", "alpha is in another conversation than its record names: "+moved)
	m.doctor(0, "--fix").isWell(m, "team.moved")
	after := m.session("alpha")
	m.check(after.SessionID == moved && len(after.PreviousSessions) == 1 && after.PreviousSessions[0].SessionID == before.SessionID, "%+v; before %s", after, before.SessionID)
	m.mustBeInTheJournal("moved", "alpha", moved)
}

// What others could have planted is for a person to judge.
func TestDoctorFixLeavesWhatOthersCouldHaveWritten(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.ok("stop", "alpha")
	m.must(os.Chmod(m.recordPath("alpha"), 0o622))
	c := m.doctor(1, "--fix")
	c.finds(m, "folder.private", "warning", "can be written by other users (mode 0622)")
	c.finds(m, "team.records", "failure", "can be written by other users")
	if info, err := os.Stat(m.recordPath("alpha")); err != nil || info.Mode().Perm() != 0o622 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	m.must(os.Chmod(m.inNbs(), 0o777))
	m.doctor(1, "--fix").finds(m, "folder.project", "failure", "chmod 700")
}

func TestDoctorReadsTheJournal(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.writeJournal([]byte(m.journal() + "{\"at\":\n"))
	lines := strings.Count(m.journal(), "\n")
	m.doctor(1).finds(m, "left.journal", "warning", fmt.Sprintf("line %d of the journal is no event", lines))
	m.writeJournal([]byte(strings.Replace(m.journal(), `"alpha"`, `"alphb"`, 1)))
	m.doctor(1).finds(m, "left.journal", "failure", "line 1: altered")
}
