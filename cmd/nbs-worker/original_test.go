package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The cases in which the bash predecessor was seen to fail, but for those that are others' too: a pid
// of another process and a neighbour with a longer name (who is who), a model that is a command and
// records that are damaged (internal/cli).

func TestOriginalResumeThatFailsAtOnceKeepsTheRecord(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	record := m.recordText("alpha")
	m.env = append(m.env, "NBS_CLAUDE="+m.script(`echo "Error: the sky fell" >&2; exit 1`))
	r := m.refused(1, "the sky fell", "resume", "alpha", "--model", "haiku")
	if strings.Contains(r.stdout, "alpha") || m.recordText("alpha") != record {
		t.Errorf("%s\nrecord before %s\nafter %s", r, record, m.recordText("alpha"))
	}
	m.env = m.env[:len(m.env)-1]
	m.mustRemember("alpha", before)
}

func TestOriginalResumeThatFailsAfterFourSeconds(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--prompt", "Remember 42.")
	m.ok("stop", "alpha")
	record := m.recordText("alpha")
	r := m.nbsWith([]string{"NBS_SIM_CLAUDE=no-registry,die-after=4s"}, "resume", "alpha")
	m.mustRefuse(r, 1, "claude left")
	if m.recordText("alpha") != record {
		t.Error("the record changed")
	}
}

func TestOriginalZombieIsDead(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	s := m.session("alpha")
	// With its launcher stopped nobody waits for claude.
	m.kill(m.launcher("alpha"), syscall.SIGSTOP)
	m.kill(s.RecordedPID, syscall.SIGKILL)
	m.waitDead(s.RecordedPID)
	if s := m.session("alpha"); s.PID != 0 || s.Running {
		t.Errorf("a zombie counts as the agent: %+v", s)
	}
	m.ok("stop", "alpha")
}

func TestOriginalSessionUnderAnotherName(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.tmux("rename-session", "-t", "=nbs-alpha-live", "elsewhere")
	if s := m.session("alpha"); !s.TmuxAlive || !s.Running {
		t.Errorf("%+v", s)
	}
	m.refused(5, "runs already", "resume", "alpha")
	m.ok("stop", "alpha")
	if sessions := m.tmux("list-sessions"); strings.Contains(sessions, "elsewhere") {
		t.Errorf("the renamed session stayed: %s", sessions)
	}
	m.ok("resume", "alpha")
}

func TestOriginalSlowShutdownNeverMeansTwoClaudes(t *testing.T) {
	m := standIn(t, "stop-delay=4s")
	m.ok("spawn", "alpha", "--prompt", "Remember 42.")
	s := m.session("alpha")
	m.ok("resume", "alpha", "--force", "--timeout", "60s")
	if on := claudesOn(s.SessionID); len(on) != 1 || on[0] == s.RecordedPID || !dead(s.RecordedPID) {
		t.Errorf("claudes on the conversation: %v, before: %d", on, s.RecordedPID)
	}
}

func TestOriginalMissingClaudeIsSaidAtOnce(t *testing.T) {
	m := standIn(t)
	begun := time.Now()
	m.env = append(m.env, "NBS_CLAUDE=")
	m.env = append(m.env, "PATH="+m.pathWithout("claude"))
	r := m.refused(6, "spawn alpha: claude is not on the PATH", "spawn", "alpha", "--prompt", "Read this")
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if r.stdout != "" {
		t.Errorf("a name was printed: %s", r)
	}
	if _, err := os.Stat(m.recordPath("alpha")); err == nil {
		t.Error("a record of an agent that could not be started")
	}
}

func TestOriginalRolePromptIsNotSentOnResume(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	m.mustRemember("alpha", before)
	count := 0
	requests := m.api.Requests()
	for _, text := range requests[len(requests)-1].Texts {
		count += strings.Count(text, "Remember 42.")
	}
	if count != 1 {
		t.Errorf("the first prompt stands %d times in the conversation", count)
	}
}
