package life

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A start that came about is not to be called a failure because its record could not be
// completed: the agent runs, and that is said.

// spoiled is what may keep a record from being written, from one moment on.
type spoiled struct{ script, leaves, what, why string }

func fullDisk(m *team) spoiled {
	ballast := m.InNbs("ballast")
	return spoiled{fmt.Sprintf("dd if=/dev/zero of=%s bs=4k 2>/dev/null", ballast), ballast, "write sessions/alpha.json: ", ": no space left on device"}
}

// whenSeen runs a verb that is spoiled when it looks at the agent's screen, as it does with
// one that is ready. The agent has the same PATH: once is enough.
func (m *team) whenSeen(s spoiled, args ...string) e2e.Result {
	m.Helper()
	armed := filepath.Join(m.TempDir(), "armed")
	m.Must(os.WriteFile(armed, nil, 0o600))
	script := fmt.Sprintf(`case "$*" in *capture-pane*) if rm %s 2>/dev/null; then %s; fi ;; esac`, armed, s.script)
	return m.NBSWith([]string{m.BeforeTmux(script)}, args...)
}

// mustRunUnnoted checks what a verb said that was spoiled.
func (m *team) mustRunUnnoted(r e2e.Result, s spoiled) e2e.Session {
	m.Helper()
	m.Must(os.Remove(s.leaves))
	now := m.Session("alpha")
	m.Check(now.Running && now.PID != 0 && len(e2e.ClaudesOn(now.SessionID)) == 1, "%s\n%+v", r, now)
	words := fmt.Sprintf(" alpha: the agent runs, pid %d, but the last update of its record failed: %s", now.RecordedPID, s.what)
	why := s.why + "\nhint: do not start it again; look at it: nbs-worker session alpha\nhint: to see why .nbs cannot be written: nbs-worker doctor\n"
	m.Check(r.Code == 1 && strings.Contains(r.Stderr, words) && strings.HasSuffix(r.Stderr, why) && r.Stdout == "", "%s\nwant %s...%s", r, words, why)
	return now
}

func TestStartThatCannotBeFullyWrittenDown(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.InNbs(), "512k")
	m.KeepServer()
	s := fullDisk(m)
	before := m.mustRunUnnoted(m.whenSeen(s, "spawn", "alpha", "--model", "sonnet"), s)
	m.OK("send", "alpha", "Remember 42.")
	m.MustAnswer("alpha", "OK, I will remember 42.")
	m.WaitState("alpha", "idle")
	m.Refused(5, "the agent runs already: idle", "resume", "alpha")
	m.OK("stop", "alpha")
	after := m.mustRunUnnoted(m.whenSeen(s, "resume", "alpha"), s)
	m.Check(after.SessionID == before.SessionID, "before %+v\nafter %+v", before, after)
	// A conversation that was replaced is announced, whatever else there is to say.
	m.OK("stop", "alpha")
	r := m.whenSeen(s, "resume", "alpha", "--fresh")
	fresh := m.mustRunUnnoted(r, s)
	m.Check(fresh.SessionID != before.SessionID && strings.Contains(r.Stderr, "a new conversation in place of "+before.SessionID), "%s\n%+v", r, fresh)
	m.MustRemember("alpha", before, "--force", "--session-id", before.SessionID)
}

// Who has removed the record of an agent that is being started is not told to start it again.
func TestStartWhoseRecordIsRemoved(t *testing.T) {
	m := standIn(t, "start-delay=3s")
	m.KeepServer()
	r := m.whenSeen(spoiled{script: "rm " + m.InNbs("sessions", "alpha.json")}, "spawn", "alpha")
	m.MustRefuse(r, 2, "the record was removed while the agent was started, in the conversation ")
	_, id, _ := strings.Cut(r.Stderr, "in the conversation ")
	on := e2e.ClaudesOn(strings.Fields(id)[0])
	m.Check(len(on) == 1 && !strings.Contains(r.Stderr, "spawn alpha\n"), "%v: %s", on, r)
}

// The last that a resume writes is its line in the journal.
func TestResumeThatTheJournalCannotTell(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("stop", "alpha")
	journal, aside := m.InNbs("journal.jsonl"), m.InNbs("aside")
	s := spoiled{script: fmt.Sprintf("mv %[1]s %[2]s; mkdir %[1]s", journal, aside)}
	r := m.whenSeen(s, "resume", "alpha")
	m.Must(os.Remove(journal))
	m.Must(os.Rename(aside, journal))
	after := m.Session("alpha")
	words := fmt.Sprintf("resume alpha: the agent runs, pid %d, but its entry in the journal failed: ", after.RecordedPID)
	m.Check(strings.Contains(r.Stderr, words) && r.Code == 1 && after.Running, "%s\n%+v; want %s", r, after, words)
	m.MustRemember("alpha", before, "--force")
}
