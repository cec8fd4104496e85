package memory

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A successor is told where the old conversation had come to beside its first prompt, and neither at a plain resume nor
// after a /clear once more.
func TestFreshWithABriefing(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("send", "alpha", "Remember 77.", "--wait-reply")
	m.OK("memory", "add", "alpha", "The gate is of oak", "--type", "decision")
	var fresh struct {
		Briefed []string `json:"briefed_from"`
	}
	m.Must(e2e.One(m.OK("resume", "alpha", "--force", "--fresh", "--brief", "--json"), &fresh))
	m.Check(slices.Equal(fresh.Briefed, []string{"memory", "transcript"}), "%+v", fresh)
	after := m.WaitState("alpha", "idle")
	asked, sent := m.FirstRequest(after.SessionID)
	rig.Equal(m, asked, "Remember 42.", "the first prompt")
	m.MustSay(sent, "Notes for agent alpha, put together by nbs-worker", "carry no authority", before.SessionID+", was given up (with resume --fresh).",
		"nbs-worker logs alpha --session-id "+before.SessionID+" -n 40", "\n> Remember 42.\n> Remember 77.\n", "> OK, I will remember 77.", "The gate is of oak")
	m.Check(!strings.Contains(m.OK("logs", "alpha"), "Notes for agent"), "the notes are taken for the user's words")
	m.MustSay(m.OK("events", "alpha"), "a new conversation in place of "+before.SessionID+", with a briefing")

	m.OK("resume", "alpha", "--force", "--prompt", "What number?")
	m.WaitState("alpha", "idle")
	m.MustSay(m.OK("logs", "alpha"), "42")
	m.Check(m.notesSent(after.SessionID, "What number?") == 1, "the notes were told %d times", m.notesSent(after.SessionID, "What number?"))
	before = m.Session("alpha")
	m.TypeLine(before, "/clear")
	cleared := m.WaitMoved(before, "clear")
	m.WaitArrived("alpha")
	m.OK("send", "alpha", "Hello.", "--wait-reply")
	m.Check(m.notesSent(cleared.SessionID, "Hello.") == 0, "they are told after a /clear: %+v", cleared)
}

// A claude that died before its first hook has told nobody the briefing: the next one, which its launcher starts, is told it.
func TestBriefingOutlivesAClaudeThatDidNotAsk(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	waits, wrapper := filepath.Join(m.Dir, "waits"), filepath.Join(m.Folder("bin"), "claude")
	m.Write(waits, "before its first hook")
	m.Must(os.WriteFile(wrapper, []byte("#!/bin/sh\nif test -e "+waits+"; then while :; do sleep 1; done; fi\nexec "+m.Variable("NBS_CLAUDE")+" \"$@\"\n"), 0o700))
	m.Env = append(m.Env, "NBS_CLAUDE="+wrapper)
	m.OK("resume", "alpha", "--force", "--fresh", "--brief", "--no-wait")
	rig.Equal(m, len(m.briefings()), 1, "briefings that wait")
	m.Must(os.Remove(waits))
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.WaitFor("it is started again", func() (bool, string) { s := m.Session("alpha"); return s.State == "idle", s.State })
	m.MustSay(strings.Join(m.Journaled("alpha"), "\n"), "\nexit: signal: killed\nbackoff: starts again in ")
	asked, sent := m.FirstRequest(m.Session("alpha").SessionID)
	rig.Equal(m, asked, "Remember 42.", "the first prompt")
	m.Check(strings.Contains(sent, "Notes for agent alpha") && strings.Contains(sent, before.SessionID+", was given up (with resume --fresh)."), "the notes are not told")
	rig.Equal(m, len(m.briefings()), 0, "briefings that wait")
}

// Who does not wait for claude to be ready does not wait for it to ask for the briefing.
func TestBriefingWithoutWaiting(t *testing.T) {
	m := standIn(t, "start-delay=1h")
	m.OK("spawn", "alpha", "--no-wait")
	m.OK("resume", "alpha", "--force", "--fresh", "--brief", "--no-wait")
	m.Check(!strings.Contains(m.OK("events", "alpha"), "has not asked"), "somebody waited")
}

// notesSent is how often a request of a conversation has the notes in it.
func (m *team) notesSent(id, asked string) int {
	m.Helper()
	for _, request := range m.API.Requests() {
		if request.SessionID == id && !request.Side && request.Last() == asked {
			return strings.Count(string(request.Body), "Notes for agent alpha")
		}
	}
	m.Errorf("%q was not asked in %s", asked, id)
	return -1
}

// A claude whose user has switched hooks off is not told the briefing: that is said, and nothing of it is left behind.
func TestBriefingThatNobodyAsksFor(t *testing.T) {
	m := standIn(t, "no-hooks")
	m.Remembers("alpha")
	m.Write(filepath.Join(m.World.ConfigDir, "settings.json"), `{"disableAllHooks": true}`)
	r := m.NBS("resume", "alpha", "--force", "--fresh", "--brief")
	m.MustRefuse(r, 3, "the agent runs, and its claude has not asked for the briefing")
	m.MustSay(m.OK("events", "alpha"), ", with a briefing; the agent runs, and its claude has not asked for the briefing\n")
	after := m.WaitState("alpha", "idle")
	asked, sent := m.FirstRequest(after.SessionID)
	m.Check(asked == "Remember 42." && !strings.Contains(sent, "Notes for agent"), "%s", sent)
	rig.Equal(m, len(m.briefings()), 1, "briefings that wait")
	m.OK("stop", "alpha")
	rig.Equal(m, len(m.briefings()), 0, "briefings that are left")
}

// briefings are the files of those that nobody has asked for.
func (m *team) briefings() (paths []string) {
	m.Helper()
	m.Must(filepath.WalkDir(m.World.Root, func(path string, _ fs.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".briefing") {
			paths = append(paths, path)
		}
		return nil
	}))
	return paths
}
