package recover

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// The main job: whatever ended an agent, resume brings it back into its conversation.

// end is one way in which an agent ends, and what is said of it then.
type end struct {
	what          string
	by            func(m *team, alpha e2e.Session)
	cause, detail string // "": it is brought back at once
	or            string // another detail that may be true
	advice        []string
	look          func(m *team, e endedAs) // at what else is told
	resume        []string                 // flags
	real          bool                     // is tried on the real claude too
}

// ends follow one another in one conversation.
var ends = []end{
	{
		what: "a kill of claude in the middle of a turn", real: true, by: func(m *team, alpha e2e.Session) {
			m.TypeLine(alpha, "Hello. [[delay 10m]]")
			m.MustBeWritten(alpha.SessionID, "Hello. [[delay 10m]]") // its answer never is
			m.Kill(alpha.RecordedPID, syscall.SIGKILL)
		},
		cause: "crashed", detail: "signal: killed", advice: []string{bringBack},
		look: func(m *team, e endedAs) {
			m.Check(e.LastExit.OOMKills == 0 && e.LastExit.Signal == "killed" && strings.Contains(e.LastExit.LastScreen, "OK, I will remember 42."), "%+v", e.LastExit)
			out := m.OK("session", "alpha")
			m.Check(strings.Contains(out, "\n                 "), "no last words:\n%s", out)
		},
	},
	{
		what: "a TERM to claude", by: func(m *team, alpha e2e.Session) { m.Kill(alpha.RecordedPID, syscall.SIGTERM) },
		cause: "crashed", detail: "code 143, as after SIGTERM", advice: []string{bringBack},
		look: func(m *team, e endedAs) {
			m.Check(e.LastExit.Reason == "other", "%+v", e.LastExit)
		},
	},
	{
		what: "/exit", real: true, by: func(m *team, alpha e2e.Session) { m.TypeLine(alpha, "/exit") },
		cause: "exited", detail: "a person ended it at its prompt", advice: []string{bringBack, "nbs-worker dismiss alpha"},
		look: func(m *team, e endedAs) {
			if e.LastExit.Code != 0 || e.LastExit.Reason != "prompt_input_exit" || !strings.Contains(e.LastExit.LastScreen, "Resume this session with") {
				m.Errorf("%+v", e.LastExit)
			}
		},
	},
	{
		what: "a kill of its launcher", by: func(m *team, _ e2e.Session) { m.Kill(m.Launcher("alpha"), syscall.SIGKILL) },
		cause: "crashed", detail: launcherKilled, advice: []string{bringBack},
		look: func(m *team, e endedAs) { // what was told once is told for ever, whatever ends after it
			m.Check(e.LastExit.Code == 0, "%+v", e.LastExit) // null, for nobody saw it
			m.KillServer()
			m.mustHaveDied("alpha", "crashed", launcherKilled)
			out := m.OK("events", "alpha")
			m.Check(strings.Count(out, "\tfound\t") == 1 && strings.Contains(out, "crashed, "+launcherKilled), "the journal:\n%s", out)
		},
	},
	{
		what: "a kill of its launcher, and no wait for claude to be gone",
		by:   func(m *team, _ e2e.Session) { m.Kill(m.Launcher("alpha"), syscall.SIGKILL) },
	},
	{
		what: "kill-session", by: func(m *team, alpha e2e.Session) { m.Tmux("kill-session", "-t", "="+alpha.TmuxSession) },
		cause: "crashed", detail: "its terminal was closed, code 129", advice: []string{bringBack},
		or: "its terminal was closed, code 0", // a claude that sees the end of its input before the signal leaves in peace
	},
	{
		what: "stop", by: func(m *team, alpha e2e.Session) {
			m.OK("stop", "alpha")
			m.Check(e2e.Dead(alpha.RecordedPID), "stop returned 0 and claude lives")
		},
		cause: "stopped",
		look: func(m *team, _ endedAs) {
			s := m.Session("alpha")
			m.Check(s.Desired == "stopped" && !s.TmuxAlive, "after stop: %+v", s)
		},
	},
	{
		what: "kill-server", by: func(m *team, _ e2e.Session) { m.Tmux("kill-server") },
		cause: "lost: tmux", advice: []string{bringBack},
	},
	{
		what: "a kill of the server", by: func(m *team, _ e2e.Session) { m.Kill(m.ServerPID(), syscall.SIGKILL) },
		cause: "lost: tmux", advice: []string{bringBack},
	},
	{
		what: "--force", by: func(m *team, alpha e2e.Session) {
			m.Refused(5, "runs already: idle", "resume", "alpha")
			if e2e.Dead(alpha.RecordedPID) {
				m.Fatal("a refused resume ended the agent")
			}
		},
		resume: []string{"--force"},
	},
}

const launcherKilled = "its launcher was killed, or could not write the record"

// The cause is told, and what to do next; what comes back is what the record says.
func TestWhateverEndsAnAgentItComesBack(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--permission-mode", "acceptEdits")
	for round, end := range ends {
		m.mustOutlive(&end, before, round)
	}
}

// The same with the real claude, of which the doctor finds nothing wrong then. Its launcher starts it again, and its project
// is moved at the end. A resume without a prompt sends nothing.
func TestRealClaudeComesBack(t *testing.T) {
	m := eachVersion(t)
	before := m.Remembers("alpha", "--permission-mode", "acceptEdits")
	for round, end := range ends {
		if end.real {
			m.mustOutlive(&end, before, round)
		}
	}
	m.Tmux("kill-session", "-t", "=somebody")
	m.doctorFindsNothing()
	m.OK("set", "alpha", "restart=on-failure")
	was := m.Session("alpha")
	m.Kill(was.RecordedPID, syscall.SIGKILL)
	m.waitBack(was)
	m.Check(m.Reply("alpha", "What number? By itself.") == "42", "it has forgotten")
	m.OK("stop", "alpha")
	m.moveProject()
	sent := len(m.API.Requests())
	m.OK("resume", "alpha", "--trust")
	m.WaitState("alpha", "idle")
	for _, request := range m.API.Requests()[sent:] {
		if request.SessionID == before.SessionID && len(request.Texts) > 0 {
			t.Errorf("a resume without --prompt sent %q", request.Last())
		}
	}
	m.Check(m.Reply("alpha", "What number? In its new place.") == "42", "it has forgotten")
	after := m.Session("alpha")
	m.Check(after.SessionID == before.SessionID && len(after.Drift) == 0, "before %+v\nafter %+v", before, after)
}

// mustOutlive ends an agent in one way and brings it back.
func (m *team) mustOutlive(end *end, before e2e.Session, round int) {
	m.Helper()
	m.Log(end.what)
	m.KeepServer()
	was := m.Session("alpha")
	end.by(m, was)
	if end.cause != "" {
		m.WaitDead(was.RecordedPID)
		detail := end.detail
		if end.or != "" && m.WaitState("alpha", end.cause).Cause == end.or {
			detail = end.or
		}
		e := m.mustHaveDied("alpha", end.cause, detail)
		if end.advice != nil {
			e.mustAdvise(m, end.advice...)
		} else if len(e.Advice) != 0 {
			m.Errorf("advice for what was wanted: %q", e.Advice)
		}
		if end.look != nil {
			end.look(m, e)
		}
	}
	id := m.Record("alpha")["session_id"]
	m.Check(id == before.SessionID, "after %s the record names %v", end.what, id)
	m.mustComeBack(before, fmt.Sprintf("What number? Round %d.", round), end.resume...)
	m.Check(e2e.Dead(was.RecordedPID), "after %s the old claude lives", end.what)
	if m.Failed() {
		m.Fatalf("that was after %s", end.what)
	}
}

// mustComeBack resumes an agent that was told 42, and that may have been asked before.
func (m *team) mustComeBack(before e2e.Session, question string, flags ...string) {
	m.Helper()
	m.OK(append([]string{"resume", "alpha", "--prompt", question}, flags...)...)
	m.WaitNews("the number is said", func() string { return m.News("alpha") }, func() (bool, string) {
		screen := m.Screen("alpha")
		at := strings.LastIndex(screen, question)
		return at >= 0 && strings.Contains(screen[at:], "● 42"), screen
	})
	after := m.WaitState("alpha", "idle")
	if after.SessionID != before.SessionID || after.Model != before.Model || after.PermissionMode != before.PermissionMode || after.Desired != "running" {
		m.Errorf("before %+v\nafter %+v", before, after)
	}
	args := m.Cmdline(after.RecordedPID)
	for _, pair := range [][]string{{"--resume", before.SessionID}, {"--model", before.Model}, {"--permission-mode", before.PermissionMode}} {
		at := slices.Index(args, pair[0])
		m.Check(at >= 0 && args[at+1] == pair[1], "%v is not on the command line %q", pair, args)
	}
	on := e2e.ClaudesOn(before.SessionID)
	m.Check(len(on) == 1, "claudes on the conversation: %v", on)
}

func TestResumeOfAnAgentThatNeverGotAPrompt(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	before := m.Session("alpha")
	if before.Transcript != nil {
		m.Fatalf("a transcript before the first prompt: %+v", before.Transcript)
	}
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	m.OK("resume", "alpha", "--prompt", "Remember 42.")
	m.MustAnswer("alpha", "OK, I will remember 42.")
	after := m.Session("alpha")
	m.Check(after.SessionID == before.SessionID, "another conversation: %s, before %s", after.SessionID, before.SessionID)
}
