package e2e

import (
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// What tests ask of commands and agents.

// Must ends the test when something that it needs has failed.
func (m *Team) Must(err error) {
	m.Helper()
	rig.Must(m, err)
}

// Check fails the test, which goes on, when something does not hold.
func (m *Team) Check(holds bool, format string, args ...any) {
	m.Helper()
	rig.Check(m, holds, format, args...)
}

// InTime checks that something took at most as long as it may on the usual machine.
func (m *Team) InTime(took, limit time.Duration) {
	m.Helper()
	m.Check(took <= rig.Scaled(limit), "it took %s, and may take %s on a machine of slowness %.1f", took, limit, rig.Slowness())
}

// Patience is a --timeout for what is to succeed.
func Patience() string { return rig.Scaled(time.Minute).String() }

// OK runs a command that must succeed and returns its stdout.
func (m *Team) OK(args ...string) string {
	m.Helper()
	r := m.NBS(args...)
	if r.Code != 0 {
		m.Fatalf("nbs-worker %q: %s", args, r)
	}
	return r.Stdout
}

// StartAsking runs a spawn of an agent that asks in its first turn. Whether its start already meets the question is a race.
func (m *Team) StartAsking(args ...string) {
	m.Helper()
	if r := m.NBS(args...); r.Code != 0 && fail.Kind(r.Code) != fail.Held {
		m.Fatalf("nbs-worker %q: %s", args, r)
	}
}

// Refused runs a command that must end with the code and say the words on stderr.
func (m *Team) Refused(code int, words string, args ...string) Result {
	m.Helper()
	r := m.NBS(args...)
	m.MustRefuse(r, code, words)
	return r
}

func (m *Team) MustRefuse(r Result, code int, words string) {
	m.Helper()
	if r.Code != code || !strings.Contains(r.Stderr, words) {
		m.Fatalf("want exit code %d and %q on stderr, got %s", code, words, r)
	}
}

// MustPrint checks all that a command says that must succeed.
func (m *Team) MustPrint(want string, args ...string) {
	m.Helper()
	got := m.OK(args...)
	m.Check(got == want, "nbs-worker %q says %q; want %q", args, got, want)
}

// MustSay checks that a text has all the words.
func (m *Team) MustSay(text string, words ...string) {
	m.Helper()
	for _, w := range words {
		m.Check(strings.Contains(text, w), "no %q in %s", w, text)
	}
}

// MustSayOnce checks that a text has each of the words one time.
func (m *Team) MustSayOnce(text string, words ...string) {
	m.Helper()
	for _, w := range words {
		m.Check(strings.Count(text, w) == 1, "%q stands %d times in %s", w, strings.Count(text, w), text)
	}
}

// MustBe checks in what state an agent is now.
func (m *Team) MustBe(handle, state string) Session {
	m.Helper()
	s := m.Session(handle)
	m.Check(s.State == state, "%s should be %s: %+v", handle, state, s)
	return s
}

// MustBeLeftAlone checks that an agent still runs, in the process in which it was.
func (m *Team) MustBeLeftAlone(handle string, before Session) {
	m.Helper()
	s := m.Session(handle)
	m.Check(s.Running && s.RecordedPID == before.RecordedPID, "before %+v\nafter %+v", before, s)
}

// Remembers spawns an agent that was told 42.
func (m *Team) Remembers(handle string, args ...string) Session {
	m.Helper()
	m.OK(append([]string{"spawn", handle, "--model", "sonnet", "--prompt", "Remember 42."}, args...)...)
	m.MustAnswer(handle, "OK, I will remember 42.")
	return m.WaitState(handle, "idle")
}

// MustRemember resumes an agent and hears the number from it, in the same
// conversation and on the same model.
func (m *Team) MustRemember(handle string, before Session, args ...string) {
	m.Helper()
	m.OK(append([]string{"resume", handle, "--prompt", "What number?"}, args...)...)
	m.MustAnswer(handle, "42")
	after := m.Session(handle)
	m.Check(after.SessionID == before.SessionID && after.Model == before.Model && after.PermissionMode == before.PermissionMode, "before %+v\nafter %+v", before, after)
}

func Without(env []string, name string) []string {
	var rest []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, name+"=") {
			rest = append(rest, entry)
		}
	}
	return rest
}
