package db

import (
	"bytes"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
)

// What is remembered of conversations is for who may see those; the keys differ in capitals, as handles do not.
func TestMemoryOfConversationsIsForWhoMaySeeThem(t *testing.T) {
	t.Parallel()
	d := made(t)
	for _, name := range []agent.Handle{
		"alpha", agent.OfConversation("telegram:1"), agent.OfConversation("Team"), agent.OfConversation("team"), agent.OfConversation("agent:alpha:plan"),
		agent.OfConversation("agent:alphabet:plan"),
	} {
		_, err := d.Add(t.Context(), name, agent.NewSessionID(), memory.Observation{Type: memory.Fix, Title: "of " + name.Name()})
		rig.Must(t, err)
	}
	for _, name := range []agent.Handle{"", "conversation:", "telegram:1", "two words"} {
		rig.Check(t, d.Create(t.Context(), memory.Observed{ContentID: agent.NewSessionID(), Handle: name}) != nil, "%q is taken for a name", name)
	}
	own := "agent:alpha:"
	rig.Equal(t, strings.Join(titles(t, d, memory.Query{Keys: &own}), ", "), "of agent:alpha:plan, of alpha", "what an agent may read")
	found, err := d.Search(t.Context(), memory.Query{Text: "team plan", Any: true, Keys: &own})
	rig.Check(t, err == nil && strings.Join(titlesOf(found), ", ") == "of agent:alpha:plan", "%v, %v", titlesOf(found), err)
	rig.Equal(t, len(titles(t, d, memory.Query{})), 6, "what a person may read")
	rig.Equal(t, strings.Join(titles(t, d, memory.Query{Handle: agent.OfConversation("Team")}), ", "), "of Team", "of one key")
	rig.Equal(t, strings.Join(titles(t, d, memory.Query{Handle: "ALPHA"}), ", "), "of alpha", "of one handle")

	var b bytes.Buffer
	n, err := d.Export(t.Context(), &b, func(name agent.Handle) bool { return name == "alpha" })
	rig.Check(t, err == nil && strings.Count(b.String(), "\n") == 3 && strings.Contains(b.String(), "of alpha"), "%d, %v: %s", n, err, b.String())
	gone, n, err := d.ForgetHandle(t.Context(), agent.OfConversation("team"))
	rig.Check(t, err == nil && len(gone) == 1 && n == 1, "%v, %d, %v", gone, n, err)
	rig.Equal(t, len(titles(t, d, memory.Query{Handle: agent.OfConversation("Team")})), 1, "of the other key")
	mustBeWhole(t, d)
}
