package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/trust"
)

// chatted makes conversations, behind the program's back.
func (m *memoryOf) chatted(t *testing.T, keys ...conversations.Key) {
	t.Helper()
	s, err := store.Open(m.project)
	rig.Must(t, err)
	defer s.Close()
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	s.Use(trust.NewKeeper(home))
	for _, key := range keys {
		rig.Must(t, s.Conversations().Of(key).Adopt(t.Context(), conversations.Meta{Cwd: m.project}, agent.NewSessionID(), true))
	}
}

// A key stands where a handle does. Where both are there, the handle is the agent's.
func TestMemoryOfConversations(t *testing.T) {
	t.Parallel()
	m := remembers(t, uitest.Record("alpha"))
	m.chatted(t, "telegram:1", "alpha")
	out := m.runOn(ui.Streams{OutTTY: true}, "on", "telegram:1").want(t, 0).out
	rig.Check(t, strings.HasPrefix(out, "telegram:1: memory is on, was off"), "%q", out)
	m.run("on", "telegram:1", "alpha", "conversation:alpha").want(t, 0)
	m.run("on", "telegram:2").want(t, fail.NotFound, `there is no conversation "telegram:2"`)
	m.run("on", "two words").want(t, fail.BadInput, "memory on")
	var all wire.MemoryStatus
	rig.Must(t, json.Unmarshal([]byte(m.run("status", "--json").want(t, 0).out), &all))
	rig.Check(t, len(all.On) == 1 && len(all.OnConversations) == 2 && all.OnConversations[1] == "telegram:1", "%+v", all)

	content := agent.NewSessionID()
	m.with(t, func(d memory.Store) error {
		_, err := d.Add(t.Context(), agent.OfConversation("telegram:1"), content, memory.Observation{Type: memory.Decision, Title: "Pancakes on Sunday"})
		rig.Must(t, err)
		_, err = d.Add(t.Context(), agent.OfConversation("alpha"), agent.NewSessionID(), memory.Observation{Type: memory.Decision, Title: "Of the chat"})
		return err
	})
	listed := m.run("list", "--handle", "telegram:1").want(t, 0).out
	rig.Check(t, strings.Contains(listed, "\ttelegram:1\tdecision\tPancakes on Sunday\n") && strings.Count(listed, "\n") == 1, "%q", listed)
	rig.Check(t, strings.Contains(m.run("search", "hinge", "--handle", "alpha").want(t, 0).out, "The hinge"), "the agent is not found")
	rig.Check(t, !strings.Contains(m.run("list", "--handle", "alpha").want(t, 0).out, "Of the chat"), "the conversation is taken for the agent")
	var shown []wire.Observation
	rig.Must(t, json.Unmarshal([]byte(m.run("search", "pancakes", "--json").want(t, 0).out), &shown))
	rig.Check(t, len(shown) == 1 && shown[0].Conversation == "telegram:1" && shown[0].Handle == "" && shown[0].SessionID == content, "%+v", shown)

	file := filepath.Join(t.TempDir(), "out")
	m.run("export", file).want(t, 0)
	m.run("forget", "--handle", "telegram:1").want(t, fail.BadInput, "memory forget --handle 'telegram:1' --yes")
	rig.Equal(t, m.run("forget", "--handle", "telegram:1", "--yes", "--json").want(t, 0).out, `{"conversation":"telegram:1","conversations":1,"observations":1}`+"\n", "forget")
	rig.Equal(t, m.run("import", file, "--json").want(t, 0).out, `{"observations":1,"skipped":3}`+"\n", "import")
	m.run("off", "telegram:1", "conversation:alpha").want(t, 0)
	rig.Check(t, strings.Contains(m.run("status", "--json").want(t, 0).out, `"on_conversations":[]`), "it is still on")
}
