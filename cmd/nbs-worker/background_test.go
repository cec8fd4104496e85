package main

import (
	"fmt"
	"testing"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/proc"
)

// The daemon that Claude keeps for sessions in the background has the mark of the agent that needed
// it first. It, and a person's sessions in it, stay when the agent ends.
func TestBackgroundOfClaudeIsNobodysLeftover(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet")
		m.asAgent("alpha", m.variable("NBS_CLAUDE")+" --bg 'Remember 7.'")
		mark := m.environ(m.session("alpha").RecordedPID)["NBS_INVOCATION_ID"]
		var background []int
		m.waitFor("the daemon holds a terminal with a session", func() (bool, string) {
			background = m.background(mark)
			return len(background) > 2, fmt.Sprint(background)
		})
		for _, args := range [][]string{{"stop", "alpha"}, {"resume", "alpha"}, {"resume", "alpha", "--force"}, {"dismiss", "alpha"}} {
			m.ok(args...)
			for _, pid := range background {
				if dead(pid) {
					t.Fatalf("%q ended process %d", args, pid)
				}
			}
		}
	})
}

// background are the processes of Claude's daemon that bear a mark.
func (m *team) background(mark string) []int {
	m.Helper()
	found, err := proc.Carrying("NBS_INVOCATION_ID", mark)
	m.must(err)
	var pids []int
	for _, id := range found {
		if cmdline, err := proc.Cmdline(id.PID); err == nil && claude.IsBackground(cmdline) {
			pids = append(pids, id.PID)
		}
	}
	return pids
}
