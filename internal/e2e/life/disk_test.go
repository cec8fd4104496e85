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

// aliveAndStopped is a team of alpha, stopped, and beta, who runs.
func (m *team) aliveAndStopped() (alpha, beta e2e.Session, records map[string]string) {
	m.Helper()
	alpha = m.Remembers("alpha")
	m.OK("stop", "alpha")
	m.OK("spawn", "beta")
	m.WaitState("beta", "idle")
	return alpha, m.Session("beta"), map[string]string{"alpha": m.RecordText("alpha"), "beta": m.RecordText("beta")}
}

func TestDiskThatTakesNothing(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		refuse      func(m *team, mounts rig.Mounts) (again func())
		words, hint string
	}{
		"full": {func(m *team, _ rig.Mounts) func() { return m.Fill(0) }, "no space left on device", "hint: make room there, then repeat the command: df -h '"},
		"read-only": {func(m *team, mounts rig.Mounts) func() {
			mounts.ReadOnly(m.InNbs())
			return func() { mounts.Unmount(m.InNbs()) }
		}, "read-only file system", "findmnt -T '"},
	} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			mounts := rig.PrivateMounts(t)
			mounts.Tmpfs(m.InNbs(), "512k")
			alpha, beta, records := m.aliveAndStopped()
			again := c.refuse(m, mounts)
			out := m.OK("list")
			m.Check(strings.Count(out, "\n") == 2, "%s", out)
			m.MustBe("beta", "idle") // looking needs no writing
			for _, args := range [][]string{{"spawn", "gamma"}, {"resume", "alpha"}, {"stop", "beta"}, {"dismiss", "beta"}, {"dismiss", "alpha"}} {
				r := m.Refused(1, c.words, args...)
				m.Check(strings.Contains(r.Stderr, c.hint+m.InNbs()+"'") && strings.Count(r.Stderr, "\n") <= 2, "%q: %s", args, r)
			}
			m.mustBeUntouched(records)
			m.Check(e2e.Dead(beta.RecordedPID) && len(e2e.ClaudesOn(alpha.SessionID)) == 0, "beta lives, or alpha was started")
			out = m.OK("list")
			m.Check(strings.Count(out, "\n") == 2, "%s", out)
			again()
			m.OK("dismiss", "beta")
			m.OK("spawn", "gamma")
			m.MustRemember("alpha", alpha)
		})
	}
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

// The disk fills up in the middle of a start, one step later each time.
func TestDiskThatFillsUpDuringAStart(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.InNbs(), "512k")
	before := m.StoppedAlpha()
	for pages, refused := int64(0), true; refused; pages++ {
		if pages == 20 {
			t.Fatal("with 80 kB free it is still refused")
		}
		free := m.Fill(pages)
		resumed, spawned := m.NBS("resume", "alpha"), m.NBS("spawn", "gamma")
		refused = resumed.Code != 0 || spawned.Code != 0
		for _, r := range []e2e.Result{resumed, spawned} {
			m.Check(r.Code == 0 || r.Code == 1 && strings.Contains(r.Stderr, "no space left on device"), "%d pages: %s", pages, r)
		}
		t.Logf("%d pages: resume %d, spawn %d", pages, resumed.Code, spawned.Code)
		id := m.Record("alpha")["session_id"]
		m.Check(id == before.SessionID, "%d pages: the record names %v", pages, id)
		running := len(e2e.ClaudesOn(before.SessionID))
		m.Check(running <= 1 && (running != 1 || m.Session("alpha").Running), "%d pages: %d claudes that no record explains", pages, running)
		free()
		m.OK("stop", "alpha")
		r := m.NBS("dismiss", "gamma")
		m.Check(r.Code == 0 || r.Code == 2, "%v", r)
		m.mustBeUntouched(map[string]string{"alpha": m.RecordText("alpha")})
	}
	m.MustRemember("alpha", before)
}

// A stop needs nothing of .nbs but its lock: a folder that is missing, and cannot be made, keeps
// nobody alive.
func TestStopOnAReadOnlyDiskWithoutAFolder(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"stop", "dismiss"} {
		t.Run(verb, func(t *testing.T) {
			m := standIn(t)
			mounts := rig.PrivateMounts(t)
			m.OK("spawn", "alpha")
			pid := m.Session("alpha").RecordedPID
			for _, folder := range []string{"status", "messages"} {
				m.Must(os.RemoveAll(m.InNbs(folder)))
			}
			mounts.ReadOnly(m.InNbs())
			m.Refused(1, verb+" alpha: it was ended, but could not be marked as stopped: ", verb, "alpha")
			m.Check(e2e.Dead(pid), "the agent was left running")
			mounts.Unmount(m.InNbs())
			m.OK("resume", "alpha")
		})
	}
}

// A start that would end an agent that works needs room for all that it has to write: with less
// the agent is left alone.
func TestForceOnAFullDisk(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.InNbs(), "512k")
	m.Env = append(m.Env, "PADDING="+strings.Repeat("x", 30_000)) // a launch file of several pages
	before := m.Remembers("alpha")
	for pages, forced := int64(0), false; !forced; pages++ {
		if pages == 30 {
			t.Fatal("with 120 kB free it is still refused")
		}
		free := m.Fill(pages)
		r := m.NBS("resume", "alpha", "--force")
		forced = r.Code == 0
		now := m.Session("alpha")
		m.Check(forced || now.RecordedPID == before.RecordedPID && !e2e.Dead(before.RecordedPID), "%d pages: the agent was ended: %s", pages, r)
		free()
	}
	m.MustRemember("alpha", before, "--force")
}

func TestFirstSpawnOnAReadOnlyDisk(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).ReadOnly(m.World.Project)
	r := m.Refused(1, "read-only file system", "spawn", "alpha")
	m.Check(m.ServerPID() == 0 && r.Stdout == "", "something was started: %s", r)
}
