package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// The main job: whatever ended an agent, resume brings it back into its conversation.

func TestResumeAfterKillOfClaude(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		before := m.remembers("alpha")
		m.kill(before.RecordedPID, syscall.SIGKILL)
		if s := m.waitState("alpha", "crashed"); s.LastExit == nil || s.LastExit.Signal != "killed" || s.Running {
			m.Errorf("after kill -9: %+v", s)
		}
		m.mustRemember("alpha", before)
	})
}

func TestResumeAfterKillOfLauncher(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		before := m.remembers("alpha")
		m.kill(m.launcher("alpha"), syscall.SIGKILL)
		m.mustRemember("alpha", before) // at once: resume itself waits for claude to be gone
	})
}

func TestResumeAfterKillSession(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		before := m.remembers("alpha")
		m.keepServer()
		m.tmux("kill-session", "-t", "="+before.TmuxSession)
		m.waitState("alpha", "crashed")
		m.mustRemember("alpha", before)
	})
}

func TestResumeAfterKillServer(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		before := m.remembers("alpha")
		m.tmux("kill-server")
		m.waitState("alpha", "lost: tmux")
		m.mustRemember("alpha", before)
	})
}

func TestResumeAfterServerWasKilledBySignal(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	m.kill(m.serverPID(), syscall.SIGKILL)
	m.waitState("alpha", "lost: tmux")
	m.mustRemember("alpha", before)
}

func TestResumeAfterExit(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		before := m.remembers("alpha")
		m.typeLine(before, "/exit")
		if s := m.waitState("alpha", "exited"); s.LastExit == nil || s.LastExit.Code != 0 {
			m.Errorf("after /exit: %+v", s)
		}
		m.mustRemember("alpha", before)
	})
}

func TestResumeAfterStop(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		before := m.remembers("alpha")
		m.ok("stop", "alpha")
		if !dead(before.RecordedPID) {
			m.Error("stop returned 0 and claude lives")
		}
		if s := m.session("alpha"); s.State != "stopped" || s.Desired != "stopped" || s.TmuxAlive {
			m.Errorf("after stop: %+v", s)
		}
		m.mustRemember("alpha", before)
		if s := m.session("alpha"); s.Desired != "running" {
			m.Errorf("after resume: %+v", s)
		}
	})
}

func TestResumeOfAnAgentThatNeverGotAPrompt(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet")
		before := m.session("alpha")
		if before.Transcript != nil {
			m.Fatalf("a transcript before the first prompt: %+v", before.Transcript)
		}
		m.kill(before.RecordedPID, syscall.SIGKILL)
		m.waitState("alpha", "crashed")
		m.ok("resume", "alpha", "--prompt", "Remember 42.")
		m.mustAnswer("alpha", "OK, I will remember 42.")
		if after := m.session("alpha"); after.SessionID != before.SessionID {
			m.Errorf("another conversation: %s, before %s", after.SessionID, before.SessionID)
		}
	})
}

// Claude notes a prompt in its history up to 50 ms before it writes the transcript. One
// that is killed in between has not lost a conversation.
func TestResumeAfterAKillBetweenHistoryAndTranscript(t *testing.T) {
	m := real(t)
	m.remembers("other") // so that there is a folder of transcripts
	m.ok("spawn", "alpha", "--model", "sonnet")
	before := m.session("alpha")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.mentionInHistory(before.SessionID)
	m.ok("resume", "alpha", "--prompt", "Remember 42.")
	m.mustAnswer("alpha", "OK, I will remember 42.")
	if after := m.session("alpha"); after.SessionID != before.SessionID {
		t.Errorf("another conversation: %s, before %s", after.SessionID, before.SessionID)
	}
}

// mentionInHistory makes Claude's history name a conversation, as of now.
func (m *team) mentionInHistory(id string) {
	m.Helper()
	mention := fmt.Sprintf(`{"display":"Remember 42.","timestamp":%d,"sessionId":%q}`+"\n", time.Now().UnixMilli(), id)
	history, err := os.OpenFile(m.world.ConfigDir+"/history.jsonl", os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = history.WriteString(mention)
	}
	if err = errors.Join(err, history.Close()); err != nil {
		m.Fatal(err)
	}
}

// Nobody but the folder knows that there was a transcript.
func TestTranscriptThatWasDeletedUnderARunningAgent(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.typeLine(m.session("alpha"), "Remember 42.")
	m.mustAnswer("alpha", "OK, I will remember 42.")
	m.mustBeWritten(m.session("alpha").SessionID, "OK, I will remember 42.")
	s := m.session("alpha")
	m.lose(s)
	m.kill(s.RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.refused(2, "its transcript is gone", "resume", "alpha")
}

// mustBeWritten waits for words in a transcript: Claude shows them before it writes them.
func (m *team) mustBeWritten(id, words string) {
	m.Helper()
	m.waitFor("the transcript of "+id+" holds "+words, func() (bool, string) {
		paths, _ := filepath.Glob(filepath.Join(m.world.ConfigDir, "projects", "*", id+".jsonl")) // the pattern is well formed
		for _, path := range paths {
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), words) {
				return true, ""
			}
		}
		return false, strings.Join(paths, " ")
	})
}

// What is on the screen is what comes back, though its id changed inside claude and
// claude had no time to say goodbye.
func TestKillAfterClearKeepsTheConversationOnTheScreen(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	m.typeLine(before, "/clear")
	cleared := m.waitMoved(before, "clear").SessionID
	m.typeLine(before, "Remember 77.")
	m.mustAnswer("alpha", "OK, I will remember 77.")
	m.mustBeWritten(cleared, "OK, I will remember 77.")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.ok("resume", "alpha", "--prompt", "What number?")
	m.mustAnswer("alpha", "77")
	after := m.session("alpha")
	if after.SessionID != cleared || len(after.PreviousSessions) != 1 || after.PreviousSessions[0].SessionID != before.SessionID {
		t.Errorf("%+v; want %s, before it %s", after, cleared, before.SessionID)
	}
}

// A failed resume puts the record back, but not the knowledge that there was a transcript.
func TestFailedResumeRemembersTheTranscript(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.ok("stop", "alpha")
	other := m.script(`first=1; for a; do [ $first ] && { set --; first=; }; [ "$a" = sonnet ] && a=opus; set -- "$@" "$a"; done; exec ` +
		m.variable("NBS_CLAUDE") + ` "$@"`)
	r := m.nbsWith([]string{"NBS_CLAUDE=" + other}, "resume", "alpha", "--prompt", "Remember 42.")
	m.mustRefuse(r, 1, "what runs is not what was recorded: model")
	s := m.session("alpha")
	if s.Transcript == nil {
		t.Fatalf("no transcript: %+v", s)
	}
	m.lose(s)
	m.refused(2, "its transcript is gone", "resume", "alpha")
}

func TestResumeAfterReboot(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	m.tmux("kill-server")
	m.waitDead(before.RecordedPID)
	m.waitState("alpha", "lost: tmux")
	// What a power cut leaves: no exit was recorded, and the boot is another.
	m.forgetExits("alpha")
	m.worker = rig.WorkerWith(t, "-X nbs-worker/internal/proc.testOnlyBootID=00000000-0000-4000-8000-000000000000")
	if s := m.session("alpha"); s.State != "lost: reboot" {
		t.Errorf("after a reboot: %+v", s)
	}
	m.mustRemember("alpha", before)
}

func TestResumeInTheMiddleOfATurn(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--prompt", "Remember 42. [[delay 60s]]")
		before := m.session("alpha")
		m.kill(before.RecordedPID, syscall.SIGKILL) // the first message is on disk, its answer is not
		m.waitState("alpha", "crashed")
		m.mustRemember("alpha", before)
	})
}

func TestResumeSendsNothingUnlessAsked(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	sent := len(m.api.Requests())
	m.ok("resume", "alpha")
	m.waitState("alpha", "idle")
	m.ok("stop", "alpha")
	for _, request := range m.api.Requests()[sent:] {
		if request.SessionID == before.SessionID && len(request.Texts) > 0 {
			t.Errorf("a resume without --prompt sent %q", request.Last())
		}
	}
}

func TestForceEndsTheAgentFirst(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		before := m.remembers("alpha")
		m.refused(5, "runs already: idle", "resume", "alpha")
		if dead(before.RecordedPID) {
			m.Fatal("a refused resume ended the agent")
		}
		m.mustRemember("alpha", before, "--force")
		if !dead(before.RecordedPID) {
			m.Error("the old claude lives")
		}
		if on := claudesOn(before.SessionID); len(on) != 1 {
			m.Errorf("claudes on the conversation: %v", on)
		}
	})
}

func TestResumeStaysOnItsTmuxServer(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--tmux-socket", "aside")
	m.ok("stop", "alpha")
	m.ok("resume", "alpha")
	if here := m.tmux("list-sessions"); strings.Contains(here, "alpha") {
		t.Errorf("it moved to the default server: %s", here)
	}
	m.ok("resume", "alpha", "--force", "--tmux-socket", "default")
	if here := m.tmux("list-sessions"); !strings.Contains(here, "nbs-alpha-live") {
		t.Errorf("it did not move where it was sent: %s", here)
	}
}

// A conversation that /clear began is resumed as any other.
func TestStopAfterClearKeepsBothConversations(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		before := m.remembers("alpha")
		m.typeLine(before, "/clear")
		cleared := m.waitMoved(before, "clear")
		m.typeLine(before, "Remember 7.")
		m.mustAnswer("alpha", "OK, I will remember 7.")
		m.waitState("alpha", "idle")
		m.ok("stop", "alpha")
		m.ok("resume", "alpha", "--prompt", "What number?")
		m.mustAnswer("alpha", "7")
		after := m.session("alpha")
		if after.SessionID != cleared.SessionID || len(after.PreviousSessions) != 1 || after.PreviousSessions[0].SessionID != before.SessionID {
			t.Errorf("before %+v\nafter %+v", before, after)
		}
	})
}
