package main

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A claude that waits for a person does not count as started.

func TestUntrustedFolderIsHeld(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{})
		r := m.refused(8, "it asks whether it trusts the folder (trust)", "spawn", "alpha", "--prompt", "Remember 42.")
		m.check(r.stdout == "" && strings.Contains(r.stderr, "hint: answer it there: nbs-worker attach alpha"), "%v", r)
		s := m.session("alpha")
		m.check(s.State == "waiting" && s.Cause == "trust dialog" && s.PID != 0, "the agent is not left at its dialog: %+v", s)
		// All who tell of an agent tell the same of it.
		list := m.ok("list")
		m.check(strings.HasPrefix(list, "alpha\twaiting\ttrust dialog\t"), "list: %s", list)
		out := m.ok("wait", "alpha", "--for", "waiting")
		m.check(out == "alpha\twaiting\ttrust dialog\n", "wait: %s", out)
		if r := m.nbs("doctor"); !strings.Contains(r.stdout, "alpha is waiting: trust dialog") {
			t.Errorf("doctor: %s", r)
		}
		// The way out that the hint names.
		m.check(strings.Contains(r.stderr, "nbs-worker resume alpha --force --trust='"+m.world.Project+"'"), "%v", r)
		m.ok("resume", "alpha", "--force", "--trust="+m.world.Project)
		m.mustAnswer("alpha", "OK, I will remember 42.")
		after := m.session("alpha")
		m.check(after.SessionID == s.SessionID, "before %+v\nafter %+v", s, after)
	})
}

func TestUntrustedAddedFolderIsHeld(t *testing.T) {
	m := real(t)
	r := m.refused(8, "it asks whether it trusts a folder of --add-dir (add-dir)", "spawn", "alpha", "--", "--add-dir", m.world.Home)
	m.check(!strings.Contains(r.stderr, "--trust"), "%v", r) // it would trust the working directory, which is trusted already
	m.ok("stop", "alpha")
}

func TestUnapprovedKeyIsHeld(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Project}, KeyUnanswered: true})
		m.refused(8, "whether to use the API key of the environment (api-key)", "spawn", "alpha")
		s := m.session("alpha")
		m.check(s.State == "waiting" && s.Cause == "api-key dialog", "%+v", s)
		m.ok("stop", "alpha")
	})
}

func TestMissingLoginIsHeld(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]bool{"no key": true, "rejected key": false} {
		t.Run(name, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, m *team) {
				rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Project}, KeyRejected: true})
				if remove {
					m.env = without(m.env, "ANTHROPIC_API_KEY")
				}
				m.refused(8, "not logged in", "spawn", "alpha")
			})
		})
	}
}

func without(env []string, name string) []string {
	var rest []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, name+"=") {
			rest = append(rest, entry)
		}
	}
	return rest
}

func TestOnboardingIsHeld(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Project}, NotOnboarded: true})
		m.refused(8, "it asks for its first-time set-up (onboarding)", "spawn", "alpha")
	})
}

func TestLiveProcessThatDiffersFromItsRecordFails(t *testing.T) {
	m := standIn(t)
	claude := m.variable("NBS_CLAUDE")
	for name, c := range map[string]struct{ sed, field string }{
		"model":  {`s/^sonnet$/haiku/`, "model"},
		"mode":   {`s/^bypassPermissions$/acceptEdits/`, "permission_mode"},
		"id":     {`s/^[0-9a-f]\{8\}-[0-9a-f-]\{27\}$/11111111-2222-4333-8444-555555555555/`, "session_id"},
		"folder": {``, "cwd"},
	} {
		change := ""
		if c.field == "cwd" {
			change = "cd " + m.world.Home
		}
		wrapper := m.script(change + `
set -f; IFS='
'
set -- $(printf '%s\n' "$@" | sed '` + c.sed + `')
exec ` + claude + ` "$@"`)
		rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Project, m.world.Home}})
		m.env = append(m.env, "NBS_CLAUDE="+wrapper)
		r := m.refused(1, "what runs is not what was recorded: "+c.field, "spawn", "agent-"+name, "--model", "sonnet")
		s := m.session("agent-" + name)
		m.check(!s.Running && dead(s.RecordedPID), "%s: it was left running: %s", name, r)
	}
}

func TestLostTranscriptIsNeverReplacedInSilence(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	m.lose(before)
	record := m.recordText("alpha")
	r := m.refused(2, "its transcript is gone", "resume", "alpha")
	m.check(strings.Contains(r.stderr, "nbs-worker resume alpha --fresh") && m.recordText("alpha") == record, "%v", r)
	m.ok("resume", "alpha", "--fresh")
	m.mustAnswer("alpha", "OK, I will remember 42.") // the first prompt briefs it again
	after := m.session("alpha")
	if after.SessionID == before.SessionID || len(after.PreviousSessions) != 1 || after.PreviousSessions[0].SessionID != before.SessionID {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
}

func TestAdoptAnExistingConversation(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.refused(5, "another claude has the conversation", "spawn", "thief", "--session-id", before.SessionID, "--root", m.otherProject())
	m.ok("dismiss", "alpha")
	m.refused(2, "no such agent", "session", "alpha")
	m.ok("spawn", "beta", "--session-id", before.SessionID, "--model", "sonnet", "--prompt", "What number?")
	m.mustAnswer("beta", "42")
}
