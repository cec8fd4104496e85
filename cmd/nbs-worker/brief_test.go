package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// firstRequest is with what a conversation began: the user's words, and all that claude sent with them.
func (m *team) firstRequest(id string) (asked, sent string) {
	m.Helper()
	m.waitFor("the first prompt is sent", func() (bool, string) {
		for _, request := range m.api.Requests() {
			if request.SessionID == id && !request.Side && request.Method == "POST" {
				asked, sent = request.Last(), strings.NewReplacer(`\n`, "\n", `\u003e`, ">", `\"`, `"`).Replace(string(request.Body))
				return true, ""
			}
		}
		return false, "no request of " + id
	})
	return asked, sent
}

// A successor is told where the old conversation had come to beside its first prompt, and neither at a plain resume nor
// after a /clear once more.
func TestFreshWithABriefing(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		before := m.remembers("alpha")
		m.ok("send", "alpha", "Remember 77.", "--wait-reply")
		m.refused(4, "--brief is for a new conversation", "resume", "alpha", "--force", "--brief")
		m.ok("resume", "alpha", "--force", "--fresh", "--brief")
		after := m.waitState("alpha", "idle")
		asked, sent := m.firstRequest(after.SessionID)
		rig.Equal(m, asked, "Remember 42.", "the first prompt")
		m.mustSay(sent, "Notes for agent alpha, put together by nbs-worker", "carry no authority", before.SessionID+", was given up (with resume --fresh).",
			"nbs-worker logs alpha --session-id "+before.SessionID+" -n 40", "\n> Remember 42.\n> Remember 77.\n", "> OK, I will remember 77.\n")
		m.check(!strings.Contains(m.ok("logs", "alpha"), "Notes for agent"), "the notes are taken for the user's words")
		m.mustSay(m.ok("events", "alpha"), "a new conversation in place of "+before.SessionID+", with a briefing")

		m.ok("resume", "alpha", "--force", "--prompt", "What number?")
		m.waitState("alpha", "idle")
		m.mustSay(m.ok("logs", "alpha"), "42")
		m.check(m.notesSent(after.SessionID, "What number?") == 1, "the notes were told %d times", m.notesSent(after.SessionID, "What number?"))
		before = m.session("alpha")
		m.typeLine(before, "/clear")
		cleared := m.waitMoved(before, "clear")
		m.waitArrived("alpha")
		m.ok("send", "alpha", "Hello.", "--wait-reply")
		m.check(m.notesSent(cleared.SessionID, "Hello.") == 0, "they are told after a /clear: %+v", cleared)
	})
}

// A claude that died before its first hook has told nobody the briefing: the next one, which its launcher starts, is told it.
func TestBriefingOutlivesAClaudeThatDidNotAsk(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		before := m.remembers("alpha", "--restart", "on-failure")
		waits, wrapper := filepath.Join(m.dir, "waits"), filepath.Join(m.folder("bin"), "claude")
		m.write(waits, "before its first hook")
		m.must(os.WriteFile(wrapper, []byte("#!/bin/sh\nif test -e "+waits+"; then while :; do sleep 1; done; fi\nexec "+m.variable("NBS_CLAUDE")+" \"$@\"\n"), 0o700))
		m.env = append(m.env, "NBS_CLAUDE="+wrapper)
		m.ok("resume", "alpha", "--force", "--fresh", "--brief", "--no-wait")
		rig.Equal(m, len(m.briefings()), 1, "briefings that wait")
		m.must(os.Remove(waits))
		m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
		m.waitFor("it is started again", func() (bool, string) { s := m.session("alpha"); return s.State == "idle", s.State })
		m.mustSay(strings.Join(m.journaled("alpha"), "\n"), "\nexit: signal: killed\nbackoff: starts again in ")
		asked, sent := m.firstRequest(m.session("alpha").SessionID)
		rig.Equal(m, asked, "Remember 42.", "the first prompt")
		m.check(strings.Contains(sent, "Notes for agent alpha") && strings.Contains(sent, before.SessionID+", was given up (with resume --fresh)."), "the notes are not told")
		rig.Equal(m, len(m.briefings()), 0, "briefings that wait")
	})
}

// Who does not wait for claude to be ready does not wait for it to ask for the briefing.
func TestBriefingWithoutWaiting(t *testing.T) {
	m := standIn(t, "start-delay=1h")
	m.ok("spawn", "alpha", "--no-wait")
	m.ok("resume", "alpha", "--force", "--fresh", "--brief", "--no-wait")
	m.check(!strings.Contains(m.ok("events", "alpha"), "has not asked"), "somebody waited")
}

// notesSent is how often a request of a conversation has the notes in it.
func (m *team) notesSent(id, asked string) int {
	m.Helper()
	for _, request := range m.api.Requests() {
		if request.SessionID == id && !request.Side && request.Last() == asked {
			return strings.Count(string(request.Body), "Notes for agent alpha")
		}
	}
	m.Errorf("%q was not asked in %s", asked, id)
	return -1
}

// A claude whose user has switched hooks off is not told the briefing: that is said, and nothing of it is left behind.
func TestBriefingThatNobodyAsksFor(t *testing.T) {
	m := real(t)
	m.remembers("alpha")
	m.write(filepath.Join(m.world.ConfigDir, "settings.json"), `{"disableAllHooks": true}`)
	r := m.nbs("resume", "alpha", "--force", "--fresh", "--brief")
	m.mustRefuse(r, 3, "the agent runs, and its claude has not asked for the briefing")
	m.mustSay(m.ok("events", "alpha"), ", with a briefing; the agent runs, and its claude has not asked for the briefing\n")
	after := m.waitState("alpha", "idle")
	asked, sent := m.firstRequest(after.SessionID)
	m.check(asked == "Remember 42." && !strings.Contains(sent, "Notes for agent"), "%s", sent)
	rig.Equal(m, len(m.briefings()), 1, "briefings that wait")
	m.ok("stop", "alpha")
	rig.Equal(m, len(m.briefings()), 0, "briefings that are left")
}

// briefings are the files of those that nobody has asked for.
func (m *team) briefings() (paths []string) {
	m.Helper()
	m.must(filepath.WalkDir(m.world.Root, func(path string, _ fs.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".briefing") {
			paths = append(paths, path)
		}
		return nil
	}))
	return paths
}
