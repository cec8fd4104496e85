package chat

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Who is in an allowed chat commands the team, and is told what others write to the chat: a person, what a watch
// tells, a schedule that is run by hand.
func TestTheTeamInAChat(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	p := m.bridged()
	p.writes("/agents", "alpha: idle")
	p.writes("/send alpha Remember 42.", "alpha has it (accepted).")
	m.WaitState("alpha", "idle")
	m.MustPrint("42\n", "ask", "@alpha", "What number?")
	id := m.Session("alpha").SessionID
	m.OK("stop", "alpha")
	p.writes("/send alpha hello", "It waits in the outbox of alpha: ...")
	p.writes("/agents", "alpha: stopped")
	p.writes("/resume alpha", "alpha is back, in "+id+".")
	m.MustPrint("42\n", "ask", "@alpha", "What number?")

	m.OK("tell", "telegram:123456789", "The build is done.")
	p.hears("The build is done.")
	notice := m.Command([]string{"tell", "telegram:123456789", "--notice"})
	notice.Stdin = strings.NewReader(`{"event": "crashed", "handle": "alpha", "detail": "killed by SIGKILL"}`)
	if r := m.Finish(notice); r.Code != 0 {
		t.Errorf("tell --notice: %s", r)
	}
	p.hears("alpha: crashed: killed by SIGKILL")

	m.Write(filepath.Join(m.World.Project, ".nbs/schedules.yaml"), `schedules:
  morning: {every: 24h, prompt: "hello from **the schedule**", deliver_to: "telegram:123456789"}
  nudge: {every: 24h, send: {to: alpha, text: "hello to the agent"}}
`)
	m.Refused(8, "allow --schedules", "schedule", "run", "morning")
	c := m.Console(m.Command([]string{"allow", "--schedules"}))
	c.MustShow("[y/N]")
	c.Types("y\n")
	m.Must(c.Cmd.Wait())
	m.MustPrint("You said: hello from **the schedule**\n", "schedule", "run", "morning")
	p.hears("You said: hello from the schedule")
	m.OK("schedule", "run", "nudge")
	m.WaitState("alpha", "idle")
	m.MustSay(m.OK("logs", "alpha"), "hello to the agent")
	m.MustSay(m.OK("schedule", "list"), "morning", "nudge", time.Now().UTC().Format("2006"))
}
