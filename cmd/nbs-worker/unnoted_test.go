package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A start that came about is not to be called a failure because its record could not be
// completed: the agent runs, and that is said.

// spoiled is what may keep a record from being written, from one moment on.
type spoiled struct{ script, leaves, what, why string }

func fullDisk(m *team) spoiled {
	ballast := m.inNbs("ballast")
	return spoiled{fmt.Sprintf("dd if=/dev/zero of=%s bs=4k 2>/dev/null", ballast), ballast, "write sessions/alpha.json: ", ": no space left on device"}
}

func noLock(m *team) spoiled {
	lock := m.inNbs("locks", "alpha.record")
	return spoiled{fmt.Sprintf("rm -f %[1]s; mkdir %[1]s", lock), lock, "lock .nbs/locks/alpha.record: ", ": is a directory"}
}

// whenSeen runs a verb that is spoiled when it looks at the agent's screen, as it does with
// one that has its prompt. The agent has the same PATH: once is enough.
func (m *team) whenSeen(s spoiled, args ...string) result {
	m.Helper()
	armed := filepath.Join(m.TempDir(), "armed")
	m.must(os.WriteFile(armed, nil, 0o600))
	script := fmt.Sprintf(`case "$*" in *capture-pane*) if rm %s 2>/dev/null; then %s; fi ;; esac`, armed, s.script)
	return m.nbsWith([]string{m.beforeTmux(script)}, args...)
}

// mustRunUnnoted checks what a verb said that was spoiled.
func (m *team) mustRunUnnoted(r result, s spoiled) session {
	m.Helper()
	m.must(os.Remove(s.leaves))
	now := m.session("alpha")
	m.check(now.Running && now.PID != 0 && len(claudesOn(now.SessionID)) == 1, "%s\n%+v", r, now)
	words := fmt.Sprintf(" alpha: the agent runs, pid %d, but the last update of its record failed: %s", now.RecordedPID, s.what)
	why := s.why + "\nhint: it needs no second start; look at it: nbs-worker session alpha\nhint: what keeps .nbs from being written: nbs-worker doctor\n"
	m.check(r.code == 1 && strings.Contains(r.stderr, words) && strings.HasSuffix(r.stderr, why) && r.stdout == "", "%s\nwant %s...%s", r, words, why)
	return now
}

func TestStartThatCannotBeFullyWrittenDown(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(*team) spoiled{"full disk": fullDisk, "no lock": noLock} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			rig.PrivateMounts(t).Tmpfs(m.inNbs(), "512k")
			m.keepServer()
			s := spoil(m)
			before := m.mustRunUnnoted(m.whenSeen(s, "spawn", "alpha", "--model", "sonnet", "--prompt", "Remember 42."), s)
			m.mustAnswer("alpha", "OK, I will remember 42.")
			m.waitState("alpha", "idle")
			m.refused(5, "the agent runs already: idle", "resume", "alpha")
			m.ok("stop", "alpha")
			after := m.mustRunUnnoted(m.whenSeen(s, "resume", "alpha"), s)
			m.check(after.SessionID == before.SessionID, "before %+v\nafter %+v", before, after)
			// A conversation that was replaced is announced, whatever else there is to say.
			m.ok("stop", "alpha")
			r := m.whenSeen(s, "resume", "alpha", "--fresh")
			fresh := m.mustRunUnnoted(r, s)
			m.check(fresh.SessionID != before.SessionID && strings.Contains(r.stderr, "a new conversation in place of "+before.SessionID), "%s\n%+v", r, fresh)
			m.mustRemember("alpha", before, "--force", "--session-id", before.SessionID)
		})
	}
}

// Who has removed the record of an agent that is being started is not told to start it again.
func TestStartWhoseRecordIsRemoved(t *testing.T) {
	m := standIn(t, "start-delay=3s")
	m.keepServer()
	r := m.whenSeen(spoiled{script: "rm " + m.inNbs("sessions", "alpha.json")}, "spawn", "alpha")
	m.mustRefuse(r, 2, "the record was removed while the agent was started, in the conversation ")
	_, id, _ := strings.Cut(r.stderr, "in the conversation ")
	on := claudesOn(strings.Fields(id)[0])
	m.check(len(on) == 1 && !strings.Contains(r.stderr, "spawn alpha\n"), "%v: %s", on, r)
}

// The last that a resume writes is its line in the journal.
func TestResumeThatTheJournalCannotTell(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	journal, aside := m.inNbs("journal.jsonl"), m.inNbs("aside")
	s := spoiled{script: fmt.Sprintf("mv %[1]s %[2]s; mkdir %[1]s", journal, aside)}
	r := m.whenSeen(s, "resume", "alpha")
	m.must(os.Remove(journal))
	m.must(os.Rename(aside, journal))
	after := m.session("alpha")
	words := fmt.Sprintf("resume alpha: the agent runs, pid %d, but its entry in the journal failed: ", after.RecordedPID)
	m.check(strings.Contains(r.stderr, words) && r.code == 1 && after.Running, "%s\n%+v; want %s", r, after, words)
	m.mustRemember("alpha", before, "--force")
}
