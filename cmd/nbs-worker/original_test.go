package main

import (
	"strings"
	"testing"
)

// The cases in which the bash predecessor was seen to fail, but for those that are others' too: a pid
// of another process and a neighbour with a longer name (who is who), a model that is a command and
// records that are damaged (internal/cli), a missing claude (internal/supervisor), a session under
// another name (windows), a zombie (died), and a prompt that a resume sends again (recovery).

func TestOriginalResumeThatFailsAtOnceKeepsTheRecord(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	record := m.recordText("alpha")
	m.env = append(m.env, "NBS_CLAUDE="+m.script(`echo "Error: the sky fell" >&2; exit 1`))
	r := m.refused(1, "the sky fell", "resume", "alpha", "--model", "haiku")
	if strings.Contains(r.stdout, "alpha") || m.recordText("alpha") != record {
		t.Errorf("%s\nrecord before %s\nafter %s", r, record, m.recordText("alpha"))
	}
	m.env = m.env[:len(m.env)-1]
	m.mustRemember("alpha", before)
}

func TestOriginalSlowShutdownNeverMeansTwoClaudes(t *testing.T) {
	m := standIn(t, "stop-delay=4s")
	m.ok("spawn", "alpha", "--prompt", "Remember 42.")
	s := m.session("alpha")
	m.ok("resume", "alpha", "--force", "--timeout", "60s")
	on := claudesOn(s.SessionID)
	m.check(len(on) == 1 && on[0] != s.RecordedPID && dead(s.RecordedPID), "claudes on the conversation: %v, before: %d", on, s.RecordedPID)
}
