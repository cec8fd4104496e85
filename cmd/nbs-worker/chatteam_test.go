package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Who is in an allowed chat commands the team, and is told what others write to the chat: a person, what a watch
// tells, a schedule that is run by hand.
func TestTheTeamInAChat(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	p := m.bridged()
	p.writes("/agents", "alpha: idle")
	p.writes("/send alpha Remember 42.", "alpha has it (accepted).")
	m.waitState("alpha", "idle")
	m.mustPrint("42\n", "ask", "@alpha", "What number?")
	id := m.session("alpha").SessionID
	m.ok("stop", "alpha")
	p.writes("/send alpha hello", "It waits in the outbox of alpha: ...")
	p.writes("/agents", "alpha: stopped")
	p.writes("/resume alpha", "alpha is back, in "+id+".")
	m.mustPrint("42\n", "ask", "@alpha", "What number?")

	m.ok("tell", "telegram:123456789", "The build is done.")
	p.hears("The build is done.")
	notice := m.command([]string{"tell", "telegram:123456789", "--notice"})
	notice.Stdin = strings.NewReader(`{"event": "crashed", "handle": "alpha", "detail": "killed by SIGKILL"}`)
	if r := m.finish(notice); r.code != 0 {
		t.Errorf("tell --notice: %s", r)
	}
	p.hears("alpha: crashed: killed by SIGKILL")
	m.refused(4, "is no chat", "tell", "alpha", "hello")

	m.write(filepath.Join(m.world.Project, ".nbs/schedules.yaml"), `schedules:
  morning: {every: 24h, prompt: "hello from the schedule", deliver_to: "telegram:123456789"}
  nudge: {every: 24h, send: {to: alpha, text: "hello to the agent"}}
`)
	m.refused(8, "allow --schedules", "schedule", "run", "morning")
	c := m.console(m.command([]string{"allow", "--schedules"}))
	c.mustShow("[y/N]")
	c.types("y\n")
	m.must(c.cmd.Wait())
	m.mustPrint("You said: hello from the schedule\n", "schedule", "run", "morning")
	p.hears("You said: hello from the schedule")
	m.ok("schedule", "run", "nudge")
	m.waitState("alpha", "idle")
	m.mustSay(m.ok("logs", "alpha"), "hello to the agent")
	m.mustSay(m.ok("schedule", "list"), "morning", "nudge", time.Now().UTC().Format("2006"))
}
