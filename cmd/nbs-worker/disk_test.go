package main

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A disk that takes nothing more: what is on it stays, no verb claims success, stop
// ends the agent all the same, and with room again everything goes on.

// fill leaves only so many pages of 4 kB on the disk of .nbs.
func (m *team) fill(pages int64) (free func()) {
	m.Helper()
	ballast := m.inNbs("ballast")
	f, err := os.Create(ballast)
	m.must(err)
	for err == nil {
		_, err = f.Write(bytes.Repeat([]byte{'x'}, 4096))
	}
	if closing := f.Close(); !errors.Is(err, syscall.ENOSPC) || closing != nil {
		m.Fatal(err, closing)
	}
	info, err := os.Stat(ballast)
	m.must(err)
	m.must(os.Truncate(ballast, info.Size()-pages*4096))
	return func() { m.must(os.Remove(ballast)) }
}

// mustBeUntouched checks that the records are as they were and that no half-written
// file is there.
func (m *team) mustBeUntouched(records map[string]string) {
	m.Helper()
	for handle, text := range records {
		got := m.recordText(handle)
		m.check(got == text, "the record of %s was changed:\n%s\nbefore:\n%s", handle, got, text)
	}
	entries, err := os.ReadDir(m.inNbs("sessions"))
	m.must(err)
	for _, entry := range entries {
		_, known := records[strings.TrimSuffix(entry.Name(), ".json")]
		m.check(known, "left: %s", entry.Name())
	}
	m.check(len(m.launchFiles()) == 0, "left: %q", m.launchFiles())
}

// aliveAndStopped is a team of alpha, stopped, and beta, who runs.
func (m *team) aliveAndStopped() (alpha, beta session, records map[string]string) {
	m.Helper()
	alpha = m.remembers("alpha")
	m.ok("stop", "alpha")
	m.ok("spawn", "beta")
	m.waitState("beta", "idle")
	return alpha, m.session("beta"), map[string]string{"alpha": m.recordText("alpha"), "beta": m.recordText("beta")}
}

func TestDiskThatTakesNothing(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		refuse      func(m *team, mounts rig.Mounts) (again func())
		words, hint string
	}{
		"full": {func(m *team, _ rig.Mounts) func() { return m.fill(0) }, "no space left on device", "hint: make room there, then repeat the command: df -h '"},
		"read-only": {func(m *team, mounts rig.Mounts) func() {
			mounts.ReadOnly(m.inNbs())
			return func() { mounts.Unmount(m.inNbs()) }
		}, "read-only file system", "findmnt -T '"},
	} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			mounts := rig.PrivateMounts(t)
			mounts.Tmpfs(m.inNbs(), "512k")
			alpha, beta, records := m.aliveAndStopped()
			again := c.refuse(m, mounts)
			out := m.ok("list")
			m.check(strings.Count(out, "\n") == 2, "%s", out)
			m.mustBe("beta", "idle") // looking needs no writing
			for _, args := range [][]string{{"spawn", "gamma"}, {"resume", "alpha"}, {"stop", "beta"}, {"dismiss", "beta"}, {"dismiss", "alpha"}} {
				r := m.refused(1, c.words, args...)
				m.check(strings.Contains(r.stderr, c.hint+m.inNbs()+"'") && strings.Count(r.stderr, "\n") <= 2, "%q: %s", args, r)
			}
			m.mustBeUntouched(records)
			m.check(dead(beta.RecordedPID) && len(claudesOn(alpha.SessionID)) == 0, "beta lives, or alpha was started")
			out = m.ok("list")
			m.check(strings.Count(out, "\n") == 2, "%s", out)
			again()
			m.ok("dismiss", "beta")
			m.ok("spawn", "gamma")
			m.mustRemember("alpha", alpha)
		})
	}
}

// Where an agent went by itself is said before it is ended, when its record cannot say it.
func TestStopOnAFullDiskTellsTheConversation(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.inNbs(), "512k")
	before := m.remembers("alpha")
	free := m.fill(0)
	m.typeLine(before, "/clear")
	moved := m.waitRegistered(before)
	m.typeLine(before, "Remember 43.")
	m.mustAnswer("alpha", "OK, I will remember 43.")
	r := m.refused(1, "no space left on device", "stop", "alpha")
	m.mustSay(r.stderr, "nbs-worker spawn HANDLE --session-id "+moved)
	m.check(dead(before.RecordedPID), "%s", r)
	free()
	m.mustRemember("alpha", before)
	m.ok("spawn", "beta", "--session-id", moved, "--prompt", "What number?")
	m.mustAnswer("beta", "43")
}

// What fills the disk may be the agent: it ends while nobody can write that down.
func TestAgentThatEndsOnAFullDisk(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.inNbs(), "512k")
	before := m.remembers("alpha")
	m.keepServer() // else it ends with its only session, and counts as the cause
	record := m.recordText("alpha")
	free := m.fill(0)
	launcher := m.launcher("alpha")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitDead(launcher)
	m.waitState("alpha", "crashed")
	// The cause that a look found may have had room; nothing else was written.
	now := regexp.MustCompile(`(?s)  "exits": \[.*?\n  \],\n`).ReplaceAllString(m.recordText("alpha"), "")
	m.check(now == record, "the record was changed:\n%s\nbefore:\n%s", now, record)
	free()
	m.mustRemember("alpha", before)
}

// A launcher that is to start its agent again waits for room to say so, however often its record is looked
// at. A full disk is no failure of the agent's, for however long. Meanwhile an agent can be stopped.
func TestAgentThatComesBackAfterAFullDisk(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.inNbs(), "512k")
	before := m.remembers("alpha", "--restart", "on-failure")
	m.ok("spawn", "beta", "--restart", "on-failure")
	alpha, beta := m.launcher("alpha"), m.launcher("beta")
	free := m.fill(0)
	m.kill(m.session("beta").RecordedPID, syscall.SIGKILL)
	m.refused(1, "no space left on device", "stop", "beta")
	m.waitDead(beta)

	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitSession("alpha", "has ended", func(s session) bool { return !s.Running })
	m.kill(alpha, syscall.SIGCHLD)
	m.mustLive(alpha)
	free()
	m.waitBack(before)
	m.mustSay(strings.Join(m.journaled("alpha"), "\n"), "exit: signal: killed\n", "failure 1 of 5")
	m.check(m.restartOf("alpha").Restart.Failures == 1, "%+v", m.restartOf("alpha"))
	m.check(m.reply("alpha", "What number?") == "42", "it has forgotten")
}

// The disk fills up in the middle of a start, one step later each time.
func TestDiskThatFillsUpDuringAStart(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.inNbs(), "512k")
	before := m.stoppedAlpha()
	for pages, refused := int64(0), true; refused; pages++ {
		if pages == 20 {
			t.Fatal("with 80 kB free it is still refused")
		}
		free := m.fill(pages)
		resumed, spawned := m.nbs("resume", "alpha"), m.nbs("spawn", "gamma")
		refused = resumed.code != 0 || spawned.code != 0
		for _, r := range []result{resumed, spawned} {
			m.check(r.code == 0 || r.code == 1 && strings.Contains(r.stderr, "no space left on device"), "%d pages: %s", pages, r)
		}
		t.Logf("%d pages: resume %d, spawn %d", pages, resumed.code, spawned.code)
		id := m.record("alpha")["session_id"]
		m.check(id == before.SessionID, "%d pages: the record names %v", pages, id)
		running := len(claudesOn(before.SessionID))
		m.check(running <= 1 && (running != 1 || m.session("alpha").Running), "%d pages: %d claudes that no record explains", pages, running)
		free()
		m.ok("stop", "alpha")
		r := m.nbs("dismiss", "gamma")
		m.check(r.code == 0 || r.code == 2, "%v", r)
		m.mustBeUntouched(map[string]string{"alpha": m.recordText("alpha")})
	}
	m.mustRemember("alpha", before)
}

// A stop needs nothing of .nbs but its lock: a folder that is missing, and cannot be made, keeps
// nobody alive.
func TestStopOnAReadOnlyDiskWithoutAFolder(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"stop", "dismiss"} {
		t.Run(verb, func(t *testing.T) {
			m := standIn(t)
			mounts := rig.PrivateMounts(t)
			m.ok("spawn", "alpha")
			pid := m.session("alpha").RecordedPID
			for _, folder := range []string{"status", "messages"} {
				m.must(os.RemoveAll(m.inNbs(folder)))
			}
			mounts.ReadOnly(m.inNbs())
			m.refused(1, verb+" alpha: it was ended, but could not be marked as stopped: ", verb, "alpha")
			m.check(dead(pid), "the agent was left running")
			mounts.Unmount(m.inNbs())
			m.ok("resume", "alpha")
		})
	}
}

// A start that would end an agent that works needs room for all that it has to write: with less
// the agent is left alone.
func TestForceOnAFullDisk(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.inNbs(), "512k")
	m.env = append(m.env, "PADDING="+strings.Repeat("x", 30_000)) // a launch file of several pages
	before := m.remembers("alpha")
	for pages, forced := int64(0), false; !forced; pages++ {
		if pages == 30 {
			t.Fatal("with 120 kB free it is still refused")
		}
		free := m.fill(pages)
		r := m.nbs("resume", "alpha", "--force")
		forced = r.code == 0
		now := m.session("alpha")
		m.check(forced || now.RecordedPID == before.RecordedPID && !dead(before.RecordedPID), "%d pages: the agent was ended: %s", pages, r)
		free()
	}
	m.mustRemember("alpha", before, "--force")
}

func TestFirstSpawnOnAReadOnlyDisk(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).ReadOnly(m.world.Project)
	r := m.refused(1, "read-only file system", "spawn", "alpha")
	m.check(m.serverPID() == 0 && r.stdout == "", "something was started: %s", r)
}
