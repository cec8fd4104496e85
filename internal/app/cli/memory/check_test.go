package memory

import (
	"os"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/caller"
	"nbs-worker/internal/team/headless/headlesstest"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// An agent is told that the memory is damaged, and not which conversations its user has.
func TestMemoryCheckNamesNoConversationOfOthersToAnAgent(t *testing.T) {
	t.Parallel()
	in, err := headlesstest.Project(storetest.MemoryProject(t), rig.MemoryDir(t))
	rig.Must(t, err)
	defer in.Close()
	rig.Must(t, in.Conversations().Of("telegram:1").Adopt(t.Context(), conversations.Meta{Cwd: "/srv"}, storetest.AliceID, true))
	taken := []memory.StatusOf{{Observed: memory.Observed{Handle: "alpha", ContentID: storetest.OtherID, MemoryID: storetest.AliceID}}}
	s := &supervisor.Supervisor{Project: &observe.Project{Store: in}}
	named := "session " + string(storetest.AliceID) + " of telegram:1 is kept as the observer of " + string(storetest.OtherID)
	rig.Same(t, "to a person", []string{named}, takenForObservers(s, taken))
	s.Caller = &caller.Caller{} // of which nothing is known
	rig.Same(t, "to an agent", []string{memory.Unseen}, takenForObservers(s, taken))
	taken[0].Handle, taken[0].MemoryID = agent.OfConversation("telegram:1"), "22222222-2222-4333-8444-555555555555"
	rig.Same(t, "where nothing is taken", []string(nil), takenForObservers(s, taken))
}
