package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The cases in which the bash predecessor was seen to fail.

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

func TestOriginalPIDOfAnotherProcessIsNotAlive(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	m.setRecord("alpha", func(fields map[string]any) {
		fields["pid"] = os.Getpid()
		process(fields)["pid"] = os.Getpid()
	})
	if s := m.session("alpha"); s.PID != 0 || s.Running {
		t.Errorf("the pid of a stranger counts as the agent: %+v", s)
	}
	m.ok("dismiss", "alpha") // and leaves this process alone
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

func TestOriginalNeighbourWithALongerName(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "pre")
	m.ok("spawn", "pre-live-old")
	m.ok("stop", "pre")
	if s := m.session("pre"); s.TmuxAlive || s.Running {
		t.Errorf("%+v", s)
	}
	m.ok("resume", "pre")
	m.ok("dismiss", "pre")
	if s := m.session("pre-live-old"); !s.Running || !s.TmuxAlive {
		t.Errorf("the neighbour was touched: %+v", s)
	}
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

func TestOriginalModelIsNoCommand(t *testing.T) {
	m := standIn(t)
	canary := filepath.Join(m.world.Root, "F")
	m.refused(4, "model", "spawn", "alpha", "--model", "x; touch "+canary)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	m.refused(4, "model", "resume", "alpha", "--model", "x; touch "+canary)
	m.setRecord("alpha", func(fields map[string]any) { fields["model"] = "x; touch " + canary })
	m.refused(4, "damaged", "resume", "alpha")
	if _, err := os.Stat(canary); err == nil {
		t.Error("the model's name was run as a command")
	}
}

func TestOriginalDamagedRecords(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	id := m.record("alpha")["session_id"].(string)
	whole := m.recordText("alpha")
	for name, text := range map[string]string{
		"empty": "", "cut short": whole[:len(whole)/2], "other": `{"schema":1}`, "null": "null", "list": "[]",
	} {
		m.writeRecord("alpha", text)
		for _, verb := range []string{"session", "resume", "stop", "dismiss"} {
			r := m.refused(4, "is damaged", verb, "alpha")
			if !strings.Contains(r.stderr, "--session-id "+id) {
				t.Errorf("%s, %s: no way back: %s", name, verb, r)
			}
		}
		if m.recordText("alpha") != text {
			t.Errorf("%s: the damaged record was changed", name)
		}
	}
	var compact strings.Builder
	if err := json.NewEncoder(&compact).Encode(json.RawMessage(whole)); err != nil {
		t.Fatal(err)
	}
	m.writeRecord("alpha", compact.String())
	if s := m.session("alpha"); s.SessionID != id || s.State != "stopped" {
		t.Errorf("one-line JSON is misread: %+v", s)
	}
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
