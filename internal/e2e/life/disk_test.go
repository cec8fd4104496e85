package life

import (
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// mustBeUntouched checks that the records are as they were and that no half-written
// file is there.
func (m *team) mustBeUntouched(records map[string]string) {
	m.Helper()
	for handle, text := range records {
		got := m.RecordText(handle)
		m.Check(got == text, "the record of %s was changed:\n%s\nbefore:\n%s", handle, got, text)
	}
	entries, err := os.ReadDir(m.InNbs("sessions"))
	m.Must(err)
	for _, entry := range entries {
		_, known := records[strings.TrimSuffix(entry.Name(), ".json")]
		m.Check(known, "left: %s", entry.Name())
	}
	m.Check(len(m.LaunchFiles()) == 0, "left: %q", m.LaunchFiles())
}

func TestDiskThatTakesNothing(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.InNbs(), "512k")
	alpha := m.Remembers("alpha")
	m.OK("stop", "alpha")
	m.OK("spawn", "beta")
	beta := m.WaitState("beta", "idle")
	records := map[string]string{"alpha": m.RecordText("alpha"), "beta": m.RecordText("beta")}
	free := m.Fill(0)
	out := m.OK("list")
	m.Check(strings.Count(out, "\n") == 2, "%s", out)
	m.MustBe("beta", "idle") // looking needs no writing
	for _, args := range [][]string{{"spawn", "gamma"}, {"resume", "alpha"}, {"stop", "beta"}, {"dismiss", "beta"}, {"dismiss", "alpha"}} {
		r := m.Refused(1, "no space left on device", args...)
		m.Check(strings.Contains(r.Stderr, "hint: make room there, then repeat the command: df -h '"+m.InNbs()+"'") && strings.Count(r.Stderr, "\n") <= 2, "%q: %s", args, r)
	}
	m.mustBeUntouched(records)
	m.Check(e2e.Dead(beta.RecordedPID) && len(e2e.ClaudesOn(alpha.SessionID)) == 0, "beta lives, or alpha was started")
	free()
	m.OK("dismiss", "beta")
	m.OK("spawn", "gamma")
	m.MustRemember("alpha", alpha)
}

// Where an agent went by itself is said before it is ended, when its record cannot say it.
func TestStopOnAFullDiskTellsTheConversation(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.InNbs(), "512k")
	before := m.Remembers("alpha")
	free := m.Fill(0)
	m.TypeLine(before, "/clear")
	moved := m.waitRegistered(before)
	m.TypeLine(before, "Remember 43.")
	m.MustAnswer("alpha", "OK, I will remember 43.")
	r := m.Refused(1, "no space left on device", "stop", "alpha")
	m.MustSay(r.Stderr, "nbs-worker spawn HANDLE --session-id "+moved)
	m.Check(e2e.Dead(before.RecordedPID), "%s", r)
	free()
	m.MustRemember("alpha", before)
	m.OK("spawn", "beta", "--session-id", moved, "--prompt", "What number?")
	m.MustAnswer("beta", "43")
}

// What fills the disk may be the agent: it ends while nobody can write that down.
func TestAgentThatEndsOnAFullDisk(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.InNbs(), "512k")
	before := m.Remembers("alpha")
	m.KeepServer() // else it ends with its only session, and counts as the cause
	record := m.RecordText("alpha")
	free := m.Fill(0)
	launcher := m.Launcher("alpha")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitDead(launcher)
	m.WaitState("alpha", "crashed")
	// The cause that a look found may have had room; nothing else was written.
	now := regexp.MustCompile(`(?s)  "exits": \[.*?\n  \],\n`).ReplaceAllString(m.RecordText("alpha"), "")
	m.Check(now == record, "the record was changed:\n%s\nbefore:\n%s", now, record)
	free()
	m.MustRemember("alpha", before)
}

// A stop needs nothing of .nbs but its lock: a folder that is missing, and cannot be made, keeps
// nobody alive.
func TestStopOnAReadOnlyDiskWithoutAFolder(t *testing.T) {
	m := standIn(t)
	mounts := rig.PrivateMounts(t)
	m.OK("spawn", "alpha")
	pid := m.Session("alpha").RecordedPID
	for _, folder := range []string{"status", "messages"} {
		m.Must(os.RemoveAll(m.InNbs(folder)))
	}
	mounts.ReadOnly(m.InNbs())
	m.Refused(1, "stop alpha: it was ended, but could not be marked as stopped: ", "stop", "alpha")
	m.Check(e2e.Dead(pid), "the agent was left running")
	mounts.Unmount(m.InNbs())
	m.OK("resume", "alpha")
}

func TestFirstSpawnOnAReadOnlyDisk(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).ReadOnly(m.World.Project)
	r := m.Refused(1, "read-only file system", "spawn", "alpha")
	m.Check(m.ServerPID() == 0 && r.Stdout == "", "something was started: %s", r)
}
