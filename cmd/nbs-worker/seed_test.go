package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The ten tests of the seed (step 6), at run time. 2 and 9 (the collision guard) are part of 1; 7 (a missing record) is TestNobodyThere of internal/cli; 4 (resume
// reads the record) and 6 (a stale record resumes) are TestWhateverEndsAnAgentItComesBack; 10 (a concurrent
// resume) is TestManyResumesOfOneAgent.

func TestSeed01RecordIsWrittenOnStart(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		out := m.ok("spawn", "alpha")
		m.check(out == "alpha\n", "spawn printed %q", out)
		info, err := os.Stat(m.recordPath("alpha"))
		m.must(err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode of the record: %v", info.Mode())
		}
		id := m.record("alpha")["session_id"].(string)
		m.check(regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id), "session_id %q", id)
		on := claudesOn(id)
		m.check(len(on) == 1 && on[0] == m.session("alpha").RecordedPID, "claudes on %s: %v", id, on)
		m.mustGuard(id)
	})
}

// mustGuard checks that nothing takes the place of a live agent.
func (m *team) mustGuard(id string) {
	m.Helper()
	before := m.waitState("alpha", "idle")
	record := m.recordText("alpha")
	m.refused(5, "spawn alpha: the handle is taken", "spawn", "alpha")
	m.refused(5, "spawn ALPHA: the handle is taken", "spawn", "ALPHA")
	m.refused(5, "runs already", "resume", "alpha")
	m.refused(5, "runs already", "run", "alpha")
	m.check(m.recordText("alpha") == record, "a refused verb changed the record of a live agent")
	after := m.session("alpha")
	m.check(after.RecordedPID == before.RecordedPID && after.SessionID == id && after.Running, "before %+v\nafter %+v", before, after)
}

func TestSeed03RecordHoldsTheModel(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "opus[1m]")
	m.ok("spawn", "beta")
	m.finish(m.command([]string{"spawn", "gamma"}, "NBS_MODEL=haiku"))
	for handle, want := range map[string]string{"alpha": "opus[1m]", "beta": "", "gamma": "haiku"} {
		got := m.record(handle)["model"]
		m.check(got == want, "%s: model %q, want %q", handle, got, want)
	}
}

func TestSeed05SessionShowsTheRecordAndTheTruth(t *testing.T) {
	m := real(t)
	m.remembers("alpha")
	var before session
	m.waitFor("the reply is in the transcript", func() (bool, string) {
		before = m.session("alpha")
		return before.Context != nil, fmt.Sprintf("%+v", before)
	})
	out := m.ok("session", "alpha")
	for _, want := range []string{before.SessionID, "sonnet", "bypassPermissions", "idle", "running (verified)", "nbs-alpha-live, there", "% left (healthy)", ".jsonl"} {
		m.check(strings.Contains(out, want), "%q is not in:\n%s", want, out)
	}
	if !strings.Contains(out, "; from the transcript, ") && !strings.Contains(out, "; says the status line, ") { // whose first word may come before
		t.Errorf("the source of the context is not in:\n%s", out)
	}
	m.check(before.Context != nil && before.Context.Tokens != 0 && before.UptimeS != nil && len(before.Drift) == 0, "%+v", before)
}

func TestSeed08ModelOverrideOnResume(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	m.ok("resume", "alpha", "--model", "haiku", "--prompt", "What number?")
	m.mustAnswer("alpha", "42")
	after := m.session("alpha")
	m.check(after.Model == "haiku" && m.record("alpha")["model"] == "haiku" && after.SessionID == before.SessionID, "%+v", after)
	requests := m.api.Requests()
	last := requests[len(requests)-1]
	m.check(strings.Contains(last.Model, "haiku"), "the API was asked for %s", last.Model)
}
