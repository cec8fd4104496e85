package life

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A claude that waits for a person does not count as started.

func TestUntrustedFolderIsHeld(t *testing.T) {
	m := standIn(t)
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{})
	r := m.Refused(8, "it asks whether it trusts the folder (trust)", "spawn", "alpha", "--prompt", "Remember 42.")
	m.Check(r.Stdout == "" && strings.Contains(r.Stderr, "hint: answer it in its terminal: nbs-worker attach alpha"), "%v", r)
	s := m.Session("alpha")
	m.Check(s.State == "waiting" && s.Cause == "trust dialog" && s.PID != 0, "the agent is not left at its dialog: %+v", s)
	// All who tell of an agent tell the same of it.
	list := m.OK("list")
	m.Check(strings.HasPrefix(list, "alpha\twaiting\ttrust dialog\t"), "list: %s", list)
	out := m.OK("wait", "alpha", "--for", "waiting")
	m.Check(strings.HasPrefix(out, "alpha\twaiting\ttrust dialog\tAccessing workspace: · "), "wait: %s", out)
	if r := m.NBS("doctor"); !strings.Contains(r.Stdout, "needs attention: alpha") {
		t.Errorf("doctor: %s", r)
	}
	// The way out that the hint names.
	m.Check(strings.Contains(r.Stderr, "nbs-worker resume alpha --force --trust='"+m.World.Project+"'"), "%v", r)
	m.OK("resume", "alpha", "--force", "--trust="+m.World.Project)
	m.MustAnswer("alpha", "OK, I will remember 42.")
	after := m.Session("alpha")
	m.Check(after.SessionID == s.SessionID, "before %+v\nafter %+v", s, after)
}

func TestUnapprovedKeyIsHeld(t *testing.T) {
	m := standIn(t)
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Project}, KeyUnanswered: true})
	m.Refused(8, "whether to use the API key of the environment (api-key)", "spawn", "alpha")
	s := m.Session("alpha")
	m.Check(s.State == "waiting" && s.Cause == "api-key dialog", "%+v", s)
	m.OK("stop", "alpha")
}

// A key that the user has rejected is none.
func TestMissingLoginIsHeld(t *testing.T) {
	m := standIn(t)
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Project}, KeyRejected: true})
	m.Refused(8, "not logged in", "spawn", "alpha")
	m.Env = append(m.Env, "NBS_SIM_CLAUDE=draw-delay=500ms") // a busy machine's terminal lags behind the registry
	m.Refused(8, "not logged in", "spawn", "beta")
}

func TestOnboardingIsHeld(t *testing.T) {
	m := eachVersion(t)
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Project}, NotOnboarded: true})
	m.Refused(8, "it asks for its first-time setup (onboarding)", "spawn", "alpha")
}

func TestLiveProcessThatDiffersFromItsRecordFails(t *testing.T) {
	m := standIn(t)
	claude := m.Variable("NBS_CLAUDE")
	fails := func(name, field string, args ...string) {
		m.Helper()
		r := m.Refused(1, "the running claude differs from the record: "+field, args...)
		s := m.Session(name)
		m.Check(!s.Running && e2e.Dead(s.RecordedPID), "%s: it was left running: %s", name, r)
	}
	for name, c := range map[string]struct{ sed, field string }{
		"model":  {`s/^sonnet$/haiku/`, "model"},
		"mode":   {`s/^bypassPermissions$/acceptEdits/`, "permission_mode"},
		"id":     {`s/^[0-9a-f]\{8\}-[0-9a-f-]\{27\}$/11111111-2222-4333-8444-555555555555/`, "session_id"},
		"folder": {``, "cwd"},
	} {
		change := ""
		if c.field == "cwd" {
			change = "cd " + m.World.Home
		}
		wrapper := m.Script(change + `
set -f; IFS='
'
set -- $(printf '%s\n' "$@" | sed '` + c.sed + `')
exec ` + claude + ` "$@"`)
		rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Project, m.World.Home}})
		m.Env = append(m.Env, "NBS_CLAUDE="+wrapper)
		fails("agent-"+name, c.field, "spawn", "agent-"+name, "--model", "sonnet")
	}
	// So it is in a folder of which the transcript says nothing.
	m.Env = append(m.Env, "NBS_CLAUDE="+claude)
	s := m.Remembers("alpha")
	m.OK("stop", "alpha")
	m.Env = append(m.Env, "NBS_CLAUDE="+m.Script("cd "+m.World.Home+" && exec "+claude+` "$@"`))
	fails("alpha", "cwd is ", "resume", "alpha")
	m.Env = append(m.Env, "NBS_CLAUDE="+claude)
	m.MustRemember("alpha", s)
}

func TestLostTranscriptIsNeverReplacedInSilence(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("stop", "alpha")
	m.Lose(before)
	record := m.RecordText("alpha")
	r := m.Refused(2, "its transcript is gone", "resume", "alpha")
	m.Check(strings.Contains(r.Stderr, "nbs-worker resume alpha --fresh") && m.RecordText("alpha") == record, "%v", r)
	m.OK("resume", "alpha", "--fresh")
	m.MustAnswer("alpha", "OK, I will remember 42.") // the first prompt briefs it again
	after := m.Session("alpha")
	if after.SessionID == before.SessionID || len(after.PreviousSessions) != 1 || after.PreviousSessions[0].SessionID != before.SessionID {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
}

func TestAdoptAnExistingConversation(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.Refused(5, "another claude has the conversation", "spawn", "thief", "--session-id", before.SessionID, "--root", m.OtherProject())
	m.OK("dismiss", "alpha")
	m.Refused(2, "no such agent", "session", "alpha")
	m.OK("spawn", "beta", "--session-id", before.SessionID, "--model", "sonnet", "--prompt", "What number?")
	m.MustAnswer("beta", "42")
}
