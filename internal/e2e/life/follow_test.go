package life

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// registerAs has Claude's registry say that a stand-in is in another conversation.
func (m *team) registerAs(s e2e.Session, id string) {
	m.Helper()
	path := m.RegistryEntry(s.RecordedPID)
	var entry map[string]any
	m.Must(json.Unmarshal(m.BytesOf(path), &entry))
	entry["sessionId"], entry["updatedAt"] = id, time.Now().Add(time.Minute).UnixMilli() // what it writes itself is older
	m.Write(path, e2e.Encoded(m.Team, entry))
}

// waitLease waits until the agent's launcher holds one conversation, and no longer another.
func (m *team) waitLease(held, free string) {
	m.Helper()
	launcher := fmt.Sprintf(`"pid":%d,`, m.Launcher("alpha"))
	m.WaitFor("the lease moves", func() (bool, string) {
		return strings.Contains(m.LeaseHolder(held), launcher) && m.LeaseHolder(free) == "",
			fmt.Sprintf("%s: %q, %s: %q", held, m.LeaseHolder(held), free, m.LeaseHolder(free))
	})
}

// The real one is followed in internal/e2e/memory, and in a worktree.
func TestRecordAndLeaseFollowTheAgentInsideClaude(t *testing.T) {
	m := standIn(t)
	first := m.Remembers("alpha")
	m.TypeLine(first, "/clear")
	cleared := m.WaitMoved(first, "clear")
	m.waitLease(cleared.SessionID, first.SessionID)
	m.MustBeInTheJournal("moved", "alpha", cleared.SessionID)
	m.turn(first, 43)
	m.Kill(first.RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	m.OK("resume", "alpha", "--prompt", "What number?")
	m.MustAnswer("alpha", "43")
	m.TypeLine(m.WaitState("alpha", "idle"), "/clear")
	again := m.WaitMoved(cleared, "clear")
	m.TypeLine(again, "/resume "+first.SessionID)
	back := m.WaitMoved(again, "resume")
	m.Check(back.SessionID == first.SessionID && len(back.PreviousSessions) == 2, "after /resume: %+v", back)
	m.waitLease(first.SessionID, again.SessionID)
	m.WaitArrived("alpha")
}

// The lease of a conversation that another agent has is taken as soon as that one has left it.
func TestLeaseThatAnotherHeldIsTakenByTheNextTurn(t *testing.T) {
	m := standIn(t)
	own, theirs := m.Remembers("alpha"), m.Remembers("beta")
	m.TypeLine(own, "/resume "+theirs.SessionID)
	m.WaitMoved(own, "resume")
	m.WaitArrived("alpha")
	const refused, taken = "\tfollow into the conversation: the conversation ", "\ttook the lease of the conversation\n"
	missing := func() {
		m.Helper()
		m.WaitFor("the journal tells that the lease is another's", func() (bool, string) {
			events := m.OK("events", "alpha")
			return strings.Count(events, refused+theirs.SessionID+" is open already: run beta, pid ") == 1 && !strings.Contains(events, taken), events
		})
	}
	missing()
	m.MustSay(m.OK("session", "alpha", "--json"), fmt.Sprintf(`"other_claudes":[{"pid":%d,`, theirs.RecordedPID))
	m.Doctor(1).Finds(m.Team, "team.health", "warning", "needs attention: ")
	m.turn(own, 43)
	missing()
	m.OK("stop", "beta")
	m.turn(own, 44)
	m.waitLease(theirs.SessionID, own.SessionID)
	r := m.Refused(5, fmt.Sprintf("open: pid %d", own.RecordedPID), "resume", "beta")
	m.MustSay(r.Stderr, "hint: it is agent alpha; to switch it to another conversation: nbs-worker attach alpha")
	m.turn(own, 45)
	m.MustSayOnce(m.OK("events", "alpha"), refused, taken)
}

// turn has alpha remember a number, in the conversation in which it is.
func (m *team) turn(s e2e.Session, number int) {
	m.Helper()
	m.TypeLine(s, fmt.Sprintf("Remember %d.", number))
	m.MustBeWritten(m.Session("alpha").SessionID, fmt.Sprintf("OK, I will remember %d.", number))
	m.WaitArrived("alpha")
}

// Right after /clear, before anything was said, the empty conversation is what was on the screen.
func TestKillRightAfterClear(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.TypeLine(before, "/clear")
	cleared := m.WaitMoved(before, "clear")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	m.OK("resume", "alpha", "--prompt", "What number?")
	m.MustAnswer("alpha", "I don't know any number.")
	if after := m.Session("alpha"); after.SessionID != cleared.SessionID {
		t.Errorf("%+v; want %s", after, cleared.SessionID)
	}
	m.OK("resume", "alpha", "--force", "--session-id", before.SessionID, "--prompt", "What number?")
	m.MustAnswer("alpha", "42")
	after := m.Session("alpha")
	if after.SessionID != before.SessionID || len(after.PreviousSessions) != 1 || after.PreviousSessions[0].SessionID != cleared.SessionID ||
		after.PreviousSessions[0].Reason != "resumed earlier" {
		t.Errorf("after going back: %+v", after)
	}
}

// Where hooks are turned off and nobody looks, the end or the next verb finds that the agent has moved: it comes back to
// where it went by itself, and the journal tells the move all the same. Claude takes its registry entry away when it
// leaves by itself or is asked to, and with it the only word of where it was.
func TestAgentThatMovedUnseen(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		leave func(m *team, s e2e.Session) // what ends the agent; nil: the resume does
		then  string                       // the event behind the move
	}{
		"hangup":                      {func(m *team, s e2e.Session) { m.Tmux("kill-session", "-t", "="+s.TmuxSession) }, "exit"},
		"stop":                        {func(m *team, _ e2e.Session) { m.OK("stop", "alpha") }, "exit"},
		"force":                       {nil, "exit"},
		"kill of launcher and claude": {func(m *team, s e2e.Session) { m.KillUnnoticed(s) }, "start"},
	} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t, "no-hooks")
			m.KeepServer()
			m.moveUnseen(m.Remembers("alpha"), c.leave, c.then)
		})
	}
}

// So it is with the real one: a look at the agent is what its record follows by, and then its end.
func TestRealClaudeThatMovedWithoutHooks(t *testing.T) {
	m := real(t)
	m.UserSettings(`{"disableAllHooks":true}`)
	before := m.Remembers("alpha")
	m.TypeLine(before, "/clear")
	seen := m.WaitSession("alpha", "is in another conversation", func(s e2e.Session) bool { return s.SessionID != before.SessionID })
	m.Check(len(seen.PreviousSessions) == 1 && len(seen.Drift) == 0, "%+v", seen)
	m.waitLease(seen.SessionID, before.SessionID)
	r := m.Report("alpha")
	m.Check(r.Activity.Hook == "", "a hook was run: %+v", r)
	m.TypeLine(seen, "/clear")
	moved := m.waitRegistered(seen)
	m.TypeLine(seen, "/exit")
	m.WaitDead(m.Launcher("alpha"))
	after := m.WaitDeath("alpha")
	m.Check(after.SessionID == moved && len(after.PreviousSessions) == 2, "it is in %+v; want %s", after, moved)
}

// moveUnseen clears the conversation of an agent, which then leaves, and checks that it comes back to the new one.
func (m *team) moveUnseen(before e2e.Session, leave func(*team, e2e.Session), then string) {
	m.Helper()
	m.TypeLine(before, "/clear")
	moved := m.waitRegistered(before)
	resume := []string{"resume", "alpha", "--prompt", "Remember 43."}
	if leave != nil {
		leave(m, before)
		m.WaitDead(before.RecordedPID)
	} else {
		resume = append(resume, "--force")
	}
	m.OK(resume...)
	m.MustAnswer("alpha", "OK, I will remember 43.")
	after := m.Session("alpha")
	m.Check(after.SessionID == moved && len(after.PreviousSessions) == 1, "it is in %+v; want %s", after, moved)
	events := m.OK("events", "alpha")
	line := fmt.Sprintf("\tmoved\talpha\t%d\t%s\tchanged inside claude, from %s\n", before.RecordedPID, moved, before.SessionID)
	_, behind, told := strings.Cut(events, line)
	if !told || strings.Count(events, "\tmoved\t") != 1 || !strings.Contains(strings.SplitAfter(behind, "\n")[0], "\t"+then+"\t") {
		m.Errorf("want%sand then %s:\n%s", line, then, events)
	}
}

// Neither conversation has a word in it.
func TestResumeOfAnAgentThatMovedUnseenWithoutAWord(t *testing.T) {
	m := standIn(t, "no-hooks")
	m.OK("spawn", "alpha")
	m.moveUnseen(m.Session("alpha"), nil, "exit")
}

// waitRegistered waits until Claude's registry has an agent in another conversation.
func (m *team) waitRegistered(before e2e.Session) (id string) {
	m.Helper()
	m.WaitFor("the registry has the new conversation", func() (bool, string) {
		var entry e2e.Registered
		text, err := os.ReadFile(m.RegistryEntry(before.RecordedPID))
		err = errors.Join(err, json.Unmarshal(text, &entry))
		id = entry.SessionID
		return err == nil && id != before.SessionID, fmt.Sprintf("%s, %v", text, err)
	})
	return id
}
