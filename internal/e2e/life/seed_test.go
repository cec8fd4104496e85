package life

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// The ten tests of the seed (step 6), at run time. 2 and 9 (the collision guard) are part of 1; 7 (a missing record) is TestNobodyThere of internal/app/cli; 4 (resume
// reads the record) and 6 (a stale record resumes) are TestWhateverEndsAnAgentItComesBack; 10 (a concurrent
// resume) is TestManyResumesOfOneAgent.

func TestSeed01RecordIsWrittenOnStart(t *testing.T) {
	m := standIn(t)
	out := m.OK("spawn", "alpha")
	m.Check(out == "alpha\n", "spawn printed %q", out)
	info, err := os.Stat(m.RecordPath("alpha"))
	m.Must(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the record: %v", info.Mode())
	}
	id := m.Record("alpha")["session_id"].(string)
	m.Check(regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id), "session_id %q", id)
	on := e2e.ClaudesOn(id)
	m.Check(len(on) == 1 && on[0] == m.Session("alpha").RecordedPID, "claudes on %s: %v", id, on)
	m.mustGuard(id)
}

// mustGuard checks that nothing takes the place of a live agent.
func (m *team) mustGuard(id string) {
	m.Helper()
	before := m.WaitState("alpha", "idle")
	record := m.RecordText("alpha")
	m.Refused(5, "spawn alpha: the handle is taken", "spawn", "alpha")
	m.Refused(5, "spawn ALPHA: the handle is taken", "spawn", "ALPHA")
	m.Refused(5, "runs already", "resume", "alpha")
	m.Refused(5, "runs already", "run", "alpha")
	m.Check(m.RecordText("alpha") == record, "a refused verb changed the record of a live agent")
	after := m.Session("alpha")
	m.Check(after.RecordedPID == before.RecordedPID && after.SessionID == id && after.Running, "before %+v\nafter %+v", before, after)
}

func TestSeed03RecordHoldsTheModel(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "opus[1m]")
	m.OK("spawn", "beta")
	m.Finish(m.Command([]string{"spawn", "gamma"}, "NBS_MODEL=haiku"))
	for handle, want := range map[string]string{"alpha": "opus[1m]", "beta": "", "gamma": "haiku"} {
		got := m.Record(handle)["model"]
		m.Check(got == want, "%s: model %q, want %q", handle, got, want)
	}
}

// Test 8 is the end of it: a resume with another model. A prompt that is a path is no command. Claude calls its status line
// before the last turn has its cost, and writes it down when it leaves; 2.1.197 does not.
func TestSeed05And08SessionShowsTheTruthAndResumeTakesAnotherModel(t *testing.T) {
	m := real(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "/etc/passwd is what? Remember 42.")
	m.MustAnswer("alpha", "OK, I will remember 42.")
	before := m.WaitSession("alpha", "has its reply in the transcript", func(s e2e.Session) bool { return s.State == "idle" && s.Context != nil })
	out := m.OK("session", "alpha")
	m.MustSay(out, before.SessionID, "sonnet", "bypassPermissions", "idle", "running (verified)", "nbs-alpha-live, there", "% left (healthy)", ".jsonl")
	if !strings.Contains(out, "; from the transcript, ") && !strings.Contains(out, "; says the status line, ") { // whose first word may come before
		t.Errorf("the source of the context is not in:\n%s", out)
	}
	m.Check(before.Context.Tokens != 0 && before.UptimeS != nil && len(before.Drift) == 0, "%+v", before)

	m.MustSay(m.Reply("alpha", "What number?"), "42")
	m.OK("stop", "alpha")
	text := string(m.BytesOf(before.Transcript.Path))
	_, written, found := strings.Cut(text[strings.LastIndex(text, `"type":"cost-state"`)+1:], `"totalCostUSD":`)
	m.Check(found, "Claude has written no cost: %s", text)
	written = written[:strings.IndexAny(written, ",}")]
	m.MustSay(m.OK("session", "alpha", "--json"), `"cost":{"usd":`+written[:4])

	m.OK("resume", "alpha", "--model", "haiku")
	m.MustSay(m.Reply("alpha", "What number?"), "42")
	after := m.Session("alpha")
	m.Check(after.Model == "haiku" && m.Record("alpha")["model"] == "haiku" && after.SessionID == before.SessionID, "%+v", after)
	requests := m.API.Requests()
	last := requests[len(requests)-1]
	m.Check(strings.Contains(last.Model, "haiku"), "the API was asked for %s", last.Model)
}
