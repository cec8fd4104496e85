package main

import (
	"fmt"
	"strings"

	"nbs-worker/internal/sim/rig"
)

// What tests ask of commands and agents.

// must ends the test when something that it needs has failed.
func (m *team) must(err error) {
	m.Helper()
	rig.Must(m, err)
}

// check fails the test, which goes on, when something does not hold.
func (m *team) check(holds bool, format string, args ...any) {
	m.Helper()
	rig.Check(m, holds, format, args...)
}

// ok runs a command that must succeed and returns its stdout.
func (m *team) ok(args ...string) string {
	m.Helper()
	r := m.nbs(args...)
	if r.code != 0 {
		m.Fatalf("nbs-worker %q: %s", args, r)
	}
	return r.stdout
}

// refused runs a command that must end with the code and say the words on stderr.
func (m *team) refused(code int, words string, args ...string) result {
	m.Helper()
	r := m.nbs(args...)
	m.mustRefuse(r, code, words)
	return r
}

func (m *team) mustRefuse(r result, code int, words string) {
	m.Helper()
	if r.code != code || !strings.Contains(r.stderr, words) {
		m.Fatalf("want exit code %d and %q on stderr, got %s", code, words, r)
	}
}

// mustPrint checks all that a command says that must succeed.
func (m *team) mustPrint(want string, args ...string) {
	m.Helper()
	got := m.ok(args...)
	m.check(got == want, "nbs-worker %q says %q; want %q", args, got, want)
}

// mustSay checks that a text has all the words.
func (m *team) mustSay(text string, words ...string) {
	m.Helper()
	for _, w := range words {
		m.check(strings.Contains(text, w), "no %q in %s", w, text)
	}
}

// mustSayOnce checks that a text has each of the words one time.
func (m *team) mustSayOnce(text string, words ...string) {
	m.Helper()
	for _, w := range words {
		m.check(strings.Count(text, w) == 1, "%q stands %d times in %s", w, strings.Count(text, w), text)
	}
}

// mustBe checks in what state an agent is now.
func (m *team) mustBe(handle, state string) session {
	m.Helper()
	s := m.session(handle)
	m.check(s.State == state, "%s should be %s: %+v", handle, state, s)
	return s
}

// mustBeLeftAlone checks that an agent still runs, in the process in which it was.
func (m *team) mustBeLeftAlone(handle string, before session) {
	m.Helper()
	s := m.session(handle)
	m.check(s.Running && s.RecordedPID == before.RecordedPID, "before %+v\nafter %+v", before, s)
}

// remembers spawns an agent that was told 42.
func (m *team) remembers(handle string, args ...string) session {
	m.Helper()
	m.ok(append([]string{"spawn", handle, "--model", "sonnet", "--prompt", "Remember 42."}, args...)...)
	m.mustAnswer(handle, "OK, I will remember 42.")
	return m.waitState(handle, "idle")
}

// mustRemember resumes an agent and hears the number from it, in the same
// conversation and on the same model.
func (m *team) mustRemember(handle string, before session, args ...string) {
	m.Helper()
	m.ok(append([]string{"resume", handle, "--prompt", "What number?"}, args...)...)
	m.mustAnswer(handle, "42")
	after := m.session(handle)
	m.check(after.SessionID == before.SessionID && after.Model == before.Model && after.PermissionMode == before.PermissionMode, "before %+v\nafter %+v", before, after)
}

// mustHaveSent checks that the API got the text as one message, byte for byte.
func (m *team) mustHaveSent(text string) {
	m.Helper()
	var all []string
	for _, request := range m.api.Requests() {
		for _, sent := range request.Texts {
			if sent == text {
				return
			}
			all = append(all, fmt.Sprintf("%d bytes: %.200q", len(sent), sent))
		}
	}
	m.Errorf("the API did not get %d bytes, %.200q, but\n%s", len(text), text, strings.Join(all, "\n"))
}
