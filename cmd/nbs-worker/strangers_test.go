package main

import (
	"fmt"
	"sync"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// One writer a conversation, whoever the other one is.

func TestTwoProjectsDoNotOpenOneConversation(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("dismiss", "alpha")
	other := m.otherProject()
	rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Root}})
	results := make([]result, 2)
	var both sync.WaitGroup
	for i, root := range []string{m.world.Project, other} {
		both.Go(func() {
			results[i] = m.nbs("spawn", "alpha", "--root", root, "--cwd", m.world.Project, "--model", "sonnet", "--session-id", before.SessionID)
		})
	}
	both.Wait()
	if codes := fmt.Sprint(results[0].code, results[1].code); codes != "0 5" && codes != "5 0" {
		t.Errorf("%s\n%s", results[0], results[1])
	}
	on := claudesOn(before.SessionID)
	m.check(len(on) == 1, "claudes on the conversation: %v", on)
}

// What lives in a tmux server that the agent's shell has started is anybody's.
func TestStopSparesPanesOfOtherSessions(t *testing.T) {
	m := standIn(t)
	m.bossWithServer()
	m.ok("stop", "boss")
	sessions := m.sessionNames()
	m.check(sessions == "somebody\n", "sessions left: %q", sessions)
}
