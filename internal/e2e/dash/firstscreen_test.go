package dash

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"nbs-worker/internal/sim/rig"
)

// firstScreen returns what nbs-worker alone prints in a terminal of 80 columns and 24 lines, in a folder.
func (m *team) firstScreen(folder string) []string {
	m.Helper()
	d := m.sit(80, 24, "cd "+folder+"; "+m.Worker+"; echo left with $?; exec cat")
	defer d.leave()
	screen, _, _ := strings.Cut(d.shows("left with 0"), "left with 0")
	lines := strings.Split(strings.TrimSpace(screen), "\n")
	m.Check(len(lines) <= 20, "%d lines:\n%s", len(lines), screen)
	for _, line := range lines {
		m.Check(displaywidth.String(line) <= 80, "%d columns: %s", displaywidth.String(line), line)
	}
	return lines
}

// leave ends the desk's server: the next one would reach it while it ends.
func (d *desk) leave() {
	d.Helper()
	d.desk("kill-server")
	rig.WaitFor(d, "the desk's server has ended", func() (bool, string) {
		said := d.desk("list-sessions")
		return strings.Contains(said, "no server running") || strings.Contains(said, "error connecting"), said
	})
}

// says checks a line of a screen.
func (m *team) says(lines []string, at int, words ...string) {
	m.Helper()
	if at < 0 {
		at += len(lines)
	}
	for _, word := range words {
		m.Check(at < len(lines) && strings.Contains(lines[at], word), "line %d does not hold %q:\n%s", at, word, strings.Join(lines, "\n"))
	}
}

// The first screen says who needs a person, and what to type next; outside of a project, where agents are.
func TestFirstScreenInATerminal(t *testing.T) {
	m := standIn(t)
	outside := m.Folder("outside")
	m.says(m.firstScreen(outside), 0, "no project here")
	m.says(m.firstScreen(outside), 1, "to start an agent: ")
	m.spawn()
	m.WaitFor("a hook waits", func() (bool, string) { open := m.OK("requests"); return open != "", open })
	lines := m.firstScreen(m.Dir)
	m.says(lines, 0, ": 3 agents, 2 need you")
	m.says(lines, 1, "HANDLE", "STATE", "SINCE", "CONTEXT", "COST", "WHAT")
	m.says(lines, 2, "asks ", " waits ", "true")
	m.says(lines, 3, "ready ", " done ", "OK, I will remember 42.")
	m.says(lines, 4, "works ", " busy ")
	m.says(lines, -1, "next: nbs-worker approve asks")

	m.OK("approve", "asks")
	m.WaitState("asks", "idle")
	lines = m.firstScreen(m.Dir)
	m.says(lines, 2, "ready ", " done ")
	m.says(lines, 3, "asks ", " done ")
	m.says(lines, -1, "next: nbs-worker next")
	m.OK("logs", "ready")
	m.says(m.firstScreen(m.Dir), -1, "next: nbs-worker logs asks -n 1")
	m.OK("logs", "asks")
	m.says(m.firstScreen(m.Dir), 0, ": 3 agents, none needs you")

	lines = m.firstScreen(outside)
	m.says(lines, 0, "no project here; yours: 1 project")
	m.says(lines, 2, m.World.Project, "3 agents, none needs you")
	m.says(lines, -3, "to start an agent: nbs-worker spawn NAME 'TASK'")
	m.says(lines, -1, "to go to one: nbs-worker attach NAME")
}
