package life

import (
	"fmt"
	"sync"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// One writer a conversation, whoever the other one is.

func TestTwoProjectsDoNotOpenOneConversation(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("dismiss", "alpha")
	other := m.OtherProject()
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Root}})
	results := make([]e2e.Result, 2)
	var both sync.WaitGroup
	for i, root := range []string{m.World.Project, other} {
		both.Go(func() {
			results[i] = m.NBS("spawn", "alpha", "--root", root, "--cwd", m.World.Project, "--model", "sonnet", "--session-id", before.SessionID)
		})
	}
	both.Wait()
	if codes := fmt.Sprint(results[0].Code, results[1].Code); codes != "0 5" && codes != "5 0" {
		t.Errorf("%s\n%s", results[0], results[1])
	}
	on := e2e.ClaudesOn(before.SessionID)
	m.Check(len(on) == 1, "claudes on the conversation: %v", on)
}

// What lives in a tmux server that the agent's shell has started is anybody's.
func TestStopSparesPanesOfOtherSessions(t *testing.T) {
	m := standIn(t)
	m.bossWithServer()
	m.OK("stop", "boss")
	sessions := m.SessionNames()
	m.Check(sessions == "somebody\n", "sessions left: %q", sessions)
}
