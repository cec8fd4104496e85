package life

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// The cases in which the bash predecessor was seen to fail, but for those that are others' too: a pid
// of another process and a neighbour with a longer name (who is who), a model that is a command and
// records that are damaged (internal/app/cli), a missing claude (internal/team/supervisor), a session under
// another name (windows), a zombie (died), and a prompt that a resume sends again (recovery).

func TestOriginalResumeThatFailsAtOnceKeepsTheRecord(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("stop", "alpha")
	record := m.RecordText("alpha")
	m.Env = append(m.Env, "NBS_CLAUDE="+m.Script(`echo "Error: the sky fell" >&2; exit 1`))
	r := m.Refused(1, "the sky fell", "resume", "alpha", "--model", "haiku")
	if strings.Contains(r.Stdout, "alpha") || m.RecordText("alpha") != record {
		t.Errorf("%s\nrecord before %s\nafter %s", r, record, m.RecordText("alpha"))
	}
	m.Env = m.Env[:len(m.Env)-1]
	m.MustRemember("alpha", before)
}

func TestOriginalSlowShutdownNeverMeansTwoClaudes(t *testing.T) {
	m := standIn(t, "stop-delay=2s")
	m.OK("spawn", "alpha", "--prompt", "Remember 42.")
	s := m.Session("alpha")
	m.OK("resume", "alpha", "--force", "--timeout", e2e.Patience())
	on := e2e.ClaudesOn(s.SessionID)
	m.Check(len(on) == 1 && on[0] != s.RecordedPID && e2e.Dead(s.RecordedPID), "claudes on the conversation: %v, before: %d", on, s.RecordedPID)
}
