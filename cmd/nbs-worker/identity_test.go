package main

import (
	"fmt"
	"strings"
	"testing"
)

// Who is who: what only looks like the agent is left alone by every verb.

// A person's own claude on the agent's conversation, wherever it stands.
func TestForeignClaudeOnTheConversation(t *testing.T) {
	t.Parallel()
	for name, whims := range map[string]string{"registered": "", "not registered": "no-registry"} {
		t.Run(name, func(t *testing.T) {
			m := standIn(t)
			before := m.remembers("alpha")
			m.keepServer()
			m.ok("stop", "alpha")
			cwd := m.otherProject()
			m.tmux("new-session", "-d", "-s", "human", "-c", cwd, "-e", "NBS_SIM_CLAUDE="+whims,
				"-e", "CLAUDE_CONFIG_DIR="+m.world.ConfigDir, m.variable("NBS_CLAUDE"), "--resume", before.SessionID)
			m.waitFor("the stranger runs", func() (bool, string) { return len(claudesOn(before.SessionID)) == 1, "" })
			pid := claudesOn(before.SessionID)[0]
			was := identityOf(pid)
			words := fmt.Sprintf("another claude has the conversation %s open: pid %d", before.SessionID, pid)

			r := m.nbs("session", "alpha")
			m.check(r.code == 0 && strings.Contains(r.stdout, fmt.Sprintf("pid %d in %q has the conversation open", pid, cwd)), "%v", r)
			list := m.ok("list")
			m.check(strings.HasPrefix(list, "alpha\tstopped\t"), "%s", list)
			m.refused(5, words, "resume", "alpha")
			m.refused(5, words, "resume", "alpha", "--force")
			m.ok("stop", "alpha")
			m.ok("dismiss", "alpha")
			m.refused(5, words, "spawn", "beta", "--session-id", before.SessionID)
			is := identityOf(pid)
			m.check(is == was, "the stranger was %s and is %q", was, is)
		})
	}
}

// A name in tmux is anybody's: also one that was the agent's a moment ago.
func TestSessionNameThatSomebodyTookMeanwhile(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.keepServer()
	m.ok("stop", "alpha")
	m.tmux("new-session", "-d", "-s", "nbs-alpha-live", "cat; cat")
	m.mustRefuse(m.onTerminal("attach", "alpha"), 2, "the agent does not run: stopped")
	s := m.session("alpha")
	m.check(!s.TmuxAlive && s.State == "stopped", "%+v", s)
	m.mustRemember("alpha", before)
	s = m.session("alpha")
	m.check(s.TmuxSession != "nbs-alpha-live" && s.TmuxAlive, "%+v", s)
	m.ok("stop", "alpha")
	m.ok("dismiss", "alpha")
	sessions := m.sessionNames()
	m.check(sessions == "nbs-alpha-live\nsomebody\n", "sessions left: %q", sessions)
}

// A record whose pid and start ticks fit a live process, and whose boot is another one.
func TestPIDOfAnEarlierBootIsNotSignalled(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.keepServer()
	m.ok("stop", "alpha")
	pid, _ := m.sleeper()
	ticks := m.startTicks(pid)
	was := identityOf(pid)
	pretend := func() {
		m.forgetExits("alpha")
		m.setRecord("alpha", func(fields map[string]any) {
			forge(fields, pid, ticks)
			fields["desired"] = "running"
			process(fields)["launcher"] = map[string]any{"pid": pid, "start_ticks": ticks}
			process(fields)["boot_id"] = "00000000-0000-4000-8000-000000000000"
		})
	}
	pretend()
	s := m.session("alpha")
	m.check(s.State == "lost: reboot" && s.PID == 0 && !s.Running, "%+v", s)
	list := m.ok("list")
	m.check(strings.HasPrefix(list, "alpha\tlost: reboot\t"), "%s", list)
	m.ok("stop", "alpha")
	pretend()
	m.mustRemember("alpha", before)
	m.ok("stop", "alpha")
	pretend()
	m.ok("dismiss", "alpha")
	is := identityOf(pid)
	m.check(is == was, "the bystander was %s and is %q", was, is)
}
