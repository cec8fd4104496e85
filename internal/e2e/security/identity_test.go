package security

import (
	"fmt"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// Who is who: what only looks like the agent is left alone by every verb.

// A person's own claude on the agent's conversation, wherever it stands.
func TestForeignClaudeOnTheConversation(t *testing.T) {
	t.Parallel()
	for name, whims := range map[string]string{"registered": "", "not registered": "no-registry"} {
		t.Run(name, func(t *testing.T) {
			m := standIn(t)
			before := m.Remembers("alpha")
			m.KeepServer()
			m.OK("stop", "alpha")
			cwd := m.OtherProject()
			m.Tmux("new-session", "-d", "-s", "human", "-c", cwd, "-e", "NBS_SIM_CLAUDE="+whims,
				"-e", "CLAUDE_CONFIG_DIR="+m.World.ConfigDir, m.Variable("NBS_CLAUDE"), "--resume", before.SessionID)
			m.WaitFor("the stranger runs", func() (bool, string) { return len(e2e.ClaudesOn(before.SessionID)) == 1, "" })
			pid := e2e.ClaudesOn(before.SessionID)[0]
			was := e2e.IdentityOf(pid)
			words := fmt.Sprintf("another claude has the conversation %s open: pid %d", before.SessionID, pid)

			r := m.NBS("session", "alpha")
			m.Check(r.Code == 0 && strings.Contains(r.Stdout, fmt.Sprintf("pid %d in %q has the conversation open", pid, cwd)), "%v", r)
			list := m.OK("list")
			m.Check(strings.HasPrefix(list, "alpha\tstopped\t"), "%s", list)
			m.Refused(5, words, "resume", "alpha")
			m.Refused(5, words, "resume", "alpha", "--force")
			m.OK("stop", "alpha")
			m.OK("dismiss", "alpha")
			m.Refused(5, words, "spawn", "beta", "--session-id", before.SessionID)
			is := e2e.IdentityOf(pid)
			m.Check(is == was, "the stranger was %s and is %q", was, is)
		})
	}
}

// A name in tmux is anybody's: also one that was the agent's a moment ago.
func TestSessionNameThatSomebodyTookMeanwhile(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.KeepServer()
	m.OK("stop", "alpha")
	m.Tmux("new-session", "-d", "-s", "nbs-alpha-live", "cat; cat")
	m.MustRefuse(m.OnTerminal("attach", "alpha"), 2, "the agent does not run: stopped")
	s := m.Session("alpha")
	m.Check(!s.TmuxAlive && s.State == "stopped", "%+v", s)
	m.MustRemember("alpha", before)
	s = m.Session("alpha")
	m.Check(s.TmuxSession != "nbs-alpha-live" && s.TmuxAlive, "%+v", s)
	m.OK("stop", "alpha")
	m.OK("dismiss", "alpha")
	sessions := m.SessionNames()
	m.Check(sessions == "nbs-alpha-live\nsomebody\n", "sessions left: %q", sessions)
}

// A record whose pid and start ticks fit a live process, and whose boot is another one.
func TestPIDOfAnEarlierBootIsNotSignalled(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.KeepServer()
	m.OK("stop", "alpha")
	pid, _ := m.Sleeper()
	ticks := m.StartTicks(pid)
	was := e2e.IdentityOf(pid)
	pretend := func() {
		m.forgetExits("alpha")
		m.SetRecord("alpha", func(fields map[string]any) {
			e2e.Forge(fields, pid, ticks)
			fields["desired"] = "running"
			e2e.Process(fields)["launcher"] = map[string]any{"pid": pid, "start_ticks": ticks}
			e2e.Process(fields)["boot_id"] = "00000000-0000-4000-8000-000000000000"
		})
	}
	pretend()
	s := m.Session("alpha")
	m.Check(s.State == "lost: reboot" && s.PID == 0 && !s.Running, "%+v", s)
	list := m.OK("list")
	m.Check(strings.HasPrefix(list, "alpha\tlost: reboot\t"), "%s", list)
	m.OK("stop", "alpha")
	pretend()
	m.MustRemember("alpha", before)
	m.OK("stop", "alpha")
	pretend()
	m.OK("dismiss", "alpha")
	is := e2e.IdentityOf(pid)
	m.Check(is == was, "the bystander was %s and is %q", was, is)
}
