package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The main job: whatever ended an agent, resume brings it back into its conversation.

// end is one way in which an agent ends, and what is said of it then.
type end struct {
	what          string
	by            func(m *team, alpha session)
	cause, detail string // "": it is brought back at once
	advice        []string
	look          func(m *team, e endedAs) // at what else is told
	resume        []string                 // flags
}

// ends follow one another in one conversation.
var ends = []end{
	{
		what: "a kill of claude", by: func(m *team, alpha session) { m.kill(alpha.RecordedPID, syscall.SIGKILL) },
		cause: "crashed", detail: "signal: killed", advice: []string{bringBack},
		look: func(m *team, e endedAs) {
			m.check(e.LastExit.OOMKills == 0 && e.LastExit.Signal == "killed" && strings.Contains(e.LastExit.LastScreen, "OK, I will remember 42."), "%+v", e.LastExit)
			out := m.ok("session", "alpha")
			m.check(strings.Contains(out, "\n                 "), "no last words:\n%s", out)
		},
	},
	{
		what: "a TERM to claude", by: func(m *team, alpha session) { m.kill(alpha.RecordedPID, syscall.SIGTERM) },
		cause: "crashed", detail: "code 143, as after SIGTERM", advice: []string{bringBack},
		look: func(m *team, e endedAs) {
			m.check(e.LastExit.Reason == "other", "%+v", e.LastExit)
		},
	},
	{
		what: "/exit", by: func(m *team, alpha session) { m.typeLine(alpha, "/exit") },
		cause: "exited", detail: "somebody ended it at its prompt", advice: []string{bringBack, "nbs-worker dismiss alpha"},
		look: func(m *team, e endedAs) {
			if e.LastExit.Code != 0 || e.LastExit.Reason != "prompt_input_exit" || !strings.Contains(e.LastExit.LastScreen, "Resume this session with") {
				m.Errorf("%+v", e.LastExit)
			}
		},
	},
	{
		what: "a kill of its launcher", by: func(m *team, _ session) { m.kill(m.launcher("alpha"), syscall.SIGKILL) },
		cause: "crashed", detail: launcherKilled, advice: []string{bringBack},
		look: func(m *team, e endedAs) { // what was told once is told for ever, whatever ends after it
			m.check(e.LastExit.Code == 0, "%+v", e.LastExit) // null, for nobody saw it
			m.killServer()
			m.mustHaveDied("alpha", "crashed", launcherKilled)
			out := m.ok("events", "alpha")
			m.check(strings.Count(out, "\tfound\t") == 1 && strings.Contains(out, "crashed, "+launcherKilled), "the journal:\n%s", out)
		},
	},
	{
		what: "a kill of its launcher, and no wait for claude to be gone",
		by:   func(m *team, _ session) { m.kill(m.launcher("alpha"), syscall.SIGKILL) },
	},
	{
		what: "kill-session", by: func(m *team, alpha session) { m.tmux("kill-session", "-t", "="+alpha.TmuxSession) },
		cause: "crashed", detail: "its terminal was closed, code 129", advice: []string{bringBack},
	},
	{
		what: "stop", by: func(m *team, alpha session) {
			m.ok("stop", "alpha")
			m.check(dead(alpha.RecordedPID), "stop returned 0 and claude lives")
		},
		cause: "stopped",
		look: func(m *team, _ endedAs) {
			s := m.session("alpha")
			m.check(s.Desired == "stopped" && !s.TmuxAlive, "after stop: %+v", s)
		},
	},
	{
		what: "kill-server", by: func(m *team, _ session) { m.tmux("kill-server") },
		cause: "lost: tmux", advice: []string{bringBack},
	},
	{
		what: "a kill of the server", by: func(m *team, _ session) { m.kill(m.serverPID(), syscall.SIGKILL) },
		cause: "lost: tmux", advice: []string{bringBack},
	},
	{
		what: "--force", by: func(m *team, alpha session) {
			m.refused(5, "runs already: idle", "resume", "alpha")
			if dead(alpha.RecordedPID) {
				m.Fatal("a refused resume ended the agent")
			}
		},
		resume: []string{"--force"},
	},
}

const launcherKilled = "its launcher was killed, or could not write"

// The cause is told, and what to do next; what comes back is what the record says.
func TestWhateverEndsAnAgentItComesBack(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		before := m.remembers("alpha", "--permission-mode", "acceptEdits")
		for round, end := range ends {
			t.Log(end.what)
			m.keepServer()
			was := m.session("alpha")
			end.by(m, was)
			if end.cause != "" {
				m.waitDead(was.RecordedPID)
				e := m.mustHaveDied("alpha", end.cause, end.detail)
				if end.advice != nil {
					e.mustAdvise(m, end.advice...)
				} else if len(e.Advice) != 0 {
					t.Errorf("advice for what was wanted: %q", e.Advice)
				}
				if end.look != nil {
					end.look(m, e)
				}
			}
			id := m.record("alpha")["session_id"]
			m.check(id == before.SessionID, "after %s the record names %v", end.what, id)
			m.mustComeBack(before, fmt.Sprintf("What number? Round %d.", round), end.resume...)
			m.check(dead(was.RecordedPID), "after %s the old claude lives", end.what)
			if t.Failed() {
				t.Fatalf("that was after %s", end.what)
			}
		}
	})
}

// mustComeBack resumes an agent that was told 42, and that may have been asked before.
func (m *team) mustComeBack(before session, question string, flags ...string) {
	m.Helper()
	m.ok(append([]string{"resume", "alpha", "--prompt", question}, flags...)...)
	m.waitFor("the number is said", func() (bool, string) {
		screen := m.screen("alpha")
		at := strings.LastIndex(screen, question)
		return at >= 0 && strings.Contains(screen[at:], "● 42"), screen
	})
	after := m.waitState("alpha", "idle")
	if after.SessionID != before.SessionID || after.Model != before.Model || after.PermissionMode != before.PermissionMode || after.Desired != "running" {
		m.Errorf("before %+v\nafter %+v", before, after)
	}
	args := m.cmdline(after.RecordedPID)
	for _, pair := range [][]string{{"--resume", before.SessionID}, {"--model", before.Model}, {"--permission-mode", before.PermissionMode}} {
		at := slices.Index(args, pair[0])
		m.check(at >= 0 && args[at+1] == pair[1], "%v is not on the command line %q", pair, args)
	}
	on := claudesOn(before.SessionID)
	m.check(len(on) == 1, "claudes on the conversation: %v", on)
}

func TestResumeOfAnAgentThatNeverGotAPrompt(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	before := m.session("alpha")
	if before.Transcript != nil {
		m.Fatalf("a transcript before the first prompt: %+v", before.Transcript)
	}
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.ok("resume", "alpha", "--prompt", "Remember 42.")
	m.mustAnswer("alpha", "OK, I will remember 42.")
	after := m.session("alpha")
	m.check(after.SessionID == before.SessionID, "another conversation: %s, before %s", after.SessionID, before.SessionID)
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

func TestResumeInTheMiddleOfATurn(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet", "--prompt", "Remember 42. [[delay 60s]]")
	before := m.session("alpha")
	m.kill(before.RecordedPID, syscall.SIGKILL) // the first message is on disk, its answer is not
	m.waitState("alpha", "crashed")
	m.mustRemember("alpha", before)
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
