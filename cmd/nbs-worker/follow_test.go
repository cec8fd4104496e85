package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waitMoved waits until the record is in another conversation than before.
func (m *team) waitMoved(before session, reason string) (after session) {
	m.Helper()
	m.waitFor("the record follows", func() (bool, string) {
		var r session // of the record's own: nobody looks, the hook alone moves it
		if err := json.Unmarshal([]byte(m.recordText("alpha")), &r); err != nil {
			return false, err.Error()
		}
		for _, p := range r.PreviousSessions {
			if p.SessionID == before.SessionID && p.Reason == reason && r.SessionID != before.SessionID {
				return true, ""
			}
		}
		return false, fmt.Sprintf("%+v", r)
	})
	return m.session("alpha")
}

// registerAs has Claude's registry say that a stand-in is in another conversation.
func (m *team) registerAs(s session, id string) {
	m.Helper()
	path := m.registryEntry(s.RecordedPID)
	var entry map[string]any
	m.must(json.Unmarshal(m.bytesOf(path), &entry))
	entry["sessionId"], entry["updatedAt"] = id, time.Now().Add(time.Minute).UnixMilli() // what it writes itself is older
	m.write(path, encoded(m, entry))
}

// registryEntry is the file of a claude in Claude's own registry.
func (m *team) registryEntry(pid int) string {
	return filepath.Join(m.world.ConfigDir, "sessions", fmt.Sprintf("%d.json", pid))
}

// leaseHolder is who signed the lease of a conversation: "" for nobody.
func (m *team) leaseHolder(id string) string {
	text, _ := os.ReadFile(m.inNbs("locks", id+".lease"))
	return strings.TrimSpace(string(text))
}

// waitLease waits until the agent's launcher holds one conversation, and no longer another.
func (m *team) waitLease(held, free string) {
	m.Helper()
	launcher := fmt.Sprintf(`"pid":%d,`, m.launcher("alpha"))
	m.waitFor("the lease moves", func() (bool, string) {
		return strings.Contains(m.leaseHolder(held), launcher) && m.leaseHolder(free) == "",
			fmt.Sprintf("%s: %q, %s: %q", held, m.leaseHolder(held), free, m.leaseHolder(free))
	})
}

func TestRecordAndLeaseFollowTheAgentInsideClaude(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		first := m.remembers("alpha")
		m.typeLine(first, "/branch")
		branched := m.waitMoved(first, "branch")
		m.waitLease(branched.SessionID, first.SessionID)
		m.mustBeInTheJournal("moved", "alpha", branched.SessionID)
		m.waitArrived("alpha")
		m.typeLine(first, "Remember 43.")
		m.mustBeWritten(branched.SessionID, "OK, I will remember 43.")
		m.kill(first.RecordedPID, syscall.SIGKILL)
		m.waitState("alpha", "crashed")
		m.ok("resume", "alpha", "--prompt", "What number?")
		m.mustAnswer("alpha", "43")

		before := m.session("alpha")
		m.typeLine(before, "/clear")
		cleared := m.waitMoved(before, "clear")
		m.waitLease(cleared.SessionID, before.SessionID)
		m.waitArrived("alpha")
		m.typeLine(before, "/resume "+first.SessionID)
		back := m.waitMoved(cleared, "resume")
		m.check(back.SessionID == first.SessionID && len(back.PreviousSessions) == 2, "after /resume: %+v", back)
		m.waitLease(first.SessionID, cleared.SessionID)
		// Which the registry says after the hook.
		m.waitSession("alpha", "is back in the registry too", func(s session) bool { return len(s.Drift) == 0 && s.SessionID == first.SessionID })
	})
}

// The lease of a conversation that another agent has is taken as soon as that one has left it.
func TestLeaseThatAnotherHeldIsTakenByTheNextTurn(t *testing.T) {
	m := real(t)
	own, theirs := m.remembers("alpha"), m.remembers("beta")
	m.typeLine(own, "/resume "+theirs.SessionID)
	m.waitMoved(own, "resume")
	m.waitArrived("alpha")
	const refused, taken = "\tfollow into the conversation: the conversation ", "\tthe conversation could be taken now\n"
	missing := func() {
		m.Helper()
		m.waitFor("the journal tells that the lease is another's", func() (bool, string) {
			events := m.ok("events", "alpha")
			return strings.Count(events, refused+theirs.SessionID+" is open already: run beta, pid ") == 1 && !strings.Contains(events, taken), events
		})
	}
	missing()
	m.mustSay(m.ok("session", "alpha", "--json"), fmt.Sprintf(`"other_claudes":[{"pid":%d,`, theirs.RecordedPID))
	m.doctor(1).finds(m, "team.twice", "failure", "the conversation "+theirs.SessionID+" is open in two claudes: pid ")
	m.turn(own, 43)
	missing()
	m.ok("stop", "beta")
	m.turn(own, 44)
	m.waitLease(theirs.SessionID, own.SessionID)
	r := m.refused(5, fmt.Sprintf("open: pid %d", own.RecordedPID), "resume", "beta")
	m.mustSay(r.stderr, "hint: it is agent alpha: nbs-worker attach alpha")
	m.turn(own, 45)
	m.mustSayOnce(m.ok("events", "alpha"), refused, taken)
}

// turn has alpha remember a number, in the conversation in which it is.
func (m *team) turn(s session, number int) {
	m.Helper()
	m.typeLine(s, fmt.Sprintf("Remember %d.", number))
	m.mustBeWritten(m.session("alpha").SessionID, fmt.Sprintf("OK, I will remember %d.", number))
	m.waitArrived("alpha")
}

// Right after /clear, before anything was said, the empty conversation is what was on the screen.
func TestKillRightAfterClear(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.typeLine(before, "/clear")
	cleared := m.waitMoved(before, "clear")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.ok("resume", "alpha", "--prompt", "What number?")
	m.mustAnswer("alpha", "I don't know any number.")
	if after := m.session("alpha"); after.SessionID != cleared.SessionID {
		t.Errorf("%+v; want %s", after, cleared.SessionID)
	}
	m.ok("resume", "alpha", "--force", "--session-id", before.SessionID, "--prompt", "What number?")
	m.mustAnswer("alpha", "42")
	after := m.session("alpha")
	if after.SessionID != before.SessionID || len(after.PreviousSessions) != 1 || after.PreviousSessions[0].SessionID != cleared.SessionID ||
		after.PreviousSessions[0].Reason != "resumed earlier" {
		t.Errorf("after going back: %+v", after)
	}
}

// Where hooks are turned off, a look at the agent is what its record follows by.
func TestLooksFollowWithoutHooks(t *testing.T) {
	m := real(t)
	m.userSettings(`{"disableAllHooks":true}`)
	before := m.remembers("alpha")
	m.typeLine(before, "/clear")
	m.waitFor("list follows", func() (bool, string) {
		out := m.ok("list", "--json")
		text := m.recordText("alpha")
		return !strings.Contains(text, `"session_id": "`+before.SessionID+`",
  "model"`), out + text
	})
	after := m.session("alpha")
	m.check(after.SessionID != before.SessionID && len(after.PreviousSessions) == 1 && len(after.Drift) == 0, "%+v", after)
	m.waitLease(after.SessionID, before.SessionID)
	r := m.report("alpha")
	m.check(r.Activity.Hook == "", "a hook was run: %+v", r)
}

// Where hooks are turned off and nobody looks, the end or the next verb finds that the agent
// has moved. The journal tells it all the same.
func TestJournalTellsMovesThatAreFoundLate(t *testing.T) {
	m := real(t)
	m.userSettings(`{"disableAllHooks":true}`)
	for what, c := range map[string]struct {
		find func(s session)
		then string // the event behind it
	}{
		"at the exit": {func(s session) {
			m.kill(s.RecordedPID, syscall.SIGKILL)
			m.waitState("exit", "crashed")
		}, "exit"},
		"by a stop":   {func(session) { m.ok("stop", "stop") }, "exit"},
		"by a resume": {func(session) { m.ok("resume", "resume", "--force") }, "exit"},
		"after launcher and claude were killed": {func(s session) {
			m.kill(m.launcher("killed"), syscall.SIGSTOP) // it notices nothing
			m.kill(s.RecordedPID, syscall.SIGKILL)
			m.kill(m.launcher("killed"), syscall.SIGKILL)
			m.ok("resume", "killed")
		}, "start"},
	} {
		words := strings.Fields(what)
		handle := words[len(words)-1]
		before := m.remembers(handle)
		m.typeLine(before, "/clear")
		moved := m.waitRegistered(before)
		c.find(before)
		events := m.ok("events", handle)
		line := fmt.Sprintf("\tmoved\t%s\t%d\t%s\tchanged inside claude, from %s\n", handle, before.RecordedPID, moved, before.SessionID)
		_, behind, told := strings.Cut(events, line)
		if !told || strings.Count(events, "\tmoved\t") != 1 || !strings.Contains(strings.SplitAfter(behind, "\n")[0], "\t"+c.then+"\t") {
			t.Errorf("%s: want%sand then %s:\n%s", what, line, c.then, events)
		}
	}
}

// Before the agent is ended, it is where it went by itself that is checked, though nobody has
// noticed yet and neither conversation has a word in it.
func TestResumeOfAnAgentThatMovedUnseen(t *testing.T) {
	m := real(t)
	m.userSettings(`{"disableAllHooks":true}`)
	m.ok("spawn", "alpha")
	before := m.session("alpha")
	m.typeLine(before, "/clear")
	moved := m.waitRegistered(before)
	m.ok("resume", "alpha", "--force", "--prompt", "Remember 42.")
	m.mustAnswer("alpha", "OK, I will remember 42.")
	after := m.session("alpha")
	m.check(after.SessionID == moved, "it is in %s; want %s", after.SessionID, moved)
}

// Claude takes its registry entry away when it leaves by itself or is asked to, and with it
// the only word of where it was. Nobody has looked before.
func TestAgentThatMovedUnseenAndLeft(t *testing.T) {
	m := real(t)
	m.userSettings(`{"disableAllHooks":true}`)
	for handle, leave := range map[string]func(session){
		"exit":   func(s session) { m.typeLine(s, "/exit") },
		"hangup": func(s session) { m.tmux("kill-session", "-t", "="+s.TmuxSession) },
		"term":   func(s session) { m.kill(s.RecordedPID, syscall.SIGTERM) },
	} {
		before := m.remembers(handle)
		m.typeLine(before, "/clear")
		moved := m.waitRegistered(before)
		leave(before)
		m.waitDead(before.RecordedPID)
		m.ok("resume", handle, "--prompt", "Remember 43.")
		m.mustAnswer(handle, "OK, I will remember 43.")
		after := m.session(handle)
		m.check(after.SessionID == moved && len(after.PreviousSessions) == 1, "%s: it is in %+v; want %s", handle, after, moved)
	}
}

// waitRegistered waits until Claude's registry has an agent in another conversation.
func (m *team) waitRegistered(before session) (id string) {
	m.Helper()
	m.waitFor("the registry has the new conversation", func() (bool, string) {
		var entry registered
		text, err := os.ReadFile(m.registryEntry(before.RecordedPID))
		err = errors.Join(err, json.Unmarshal(text, &entry))
		id = entry.SessionID
		return err == nil && id != before.SessionID, fmt.Sprintf("%s, %v", text, err)
	})
	return id
}

// userSettings replaces the user's settings as a whole: claude reads them at once, and would
// find them empty.
func (m *team) userSettings(text string) {
	m.Helper()
	m.replace(filepath.Join(m.world.ConfigDir, "settings.json"), []byte(text))
}

func TestResumeGoesBackToItsOwnConversationsOnly(t *testing.T) {
	m := standIn(t)
	first := m.remembers("alpha")
	m.ok("stop", "alpha")
	m.refused(2, "it has been in none but the present one", "resume", "alpha", "--session-id", "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")
	m.ok("resume", "alpha", "--fresh")
	m.refused(2, "nbs-worker resume alpha --session-id "+first.SessionID, "resume", "alpha", "--force", "--session-id", "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")
	m.refused(4, "is not a UUID", "resume", "alpha", "--session-id", "x")
	m.refused(4, "session-id", "resume", "alpha", "--fresh", "--session-id", first.SessionID)
	m.ok("stop", "alpha")
	m.mustRemember("alpha", first, "--session-id", first.SessionID)
	path := m.session("alpha").Transcript.Path
	m.ok("resume", "alpha", "--force", "--fresh")
	for _, name := range []string{path, m.keptPath(first.SessionID)} {
		m.must(os.Remove(name))
	}
	m.refused(2, "its transcript is gone", "resume", "alpha", "--force", "--session-id", first.SessionID)
}
