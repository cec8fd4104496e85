package services

import (
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless/headlesstest"
	"nbs-worker/internal/team/observe"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// A conversation is reminded of its own notes only: those that share a longer word with the text, and those of a day.
func TestAConversationRecallsItsOwnNotes(t *testing.T) {
	t.Parallel()
	in, err := headlesstest.Project(storetest.MemoryProject(t), rig.MemoryDir(t))
	rig.Must(t, err)
	defer in.Close()
	recall := Conversations(&observe.Project{Store: in}).Memories
	day := time.Date(2026, 3, 28, 0, 0, 0, 0, time.Local)
	fitting, noted, err := recall(t.Context(), "telegram:1", "pancakes", day, day.AddDate(0, 0, 1))
	rig.Check(t, err == nil && fitting == nil && noted == nil, "without a memory: %q, %q, %v", fitting, noted, err)

	m, err := OpenMemory(t.Context(), in, true)
	rig.Must(t, err)
	content := map[agent.Handle]agent.SessionID{}
	note := func(name agent.Handle, at time.Time, title, text string) {
		t.Helper()
		if content[name] == "" {
			content[name] = agent.NewSessionID()
		}
		_, err := m.Add(t.Context(), name, content[name], memory.Observation{Type: memory.OpenEnd, Title: title, Narrative: text, At: at})
		rig.Must(t, err)
	}
	chat := agent.OfConversation("telegram:1")
	note(chat, day.Add(-time.Hour), "Pancakes on Sunday", "With\nmaple syrup. "+strings.Repeat("More. ", 200))
	note(chat, day.Add(-time.Hour), "The bike is broken", "")
	note(chat, day.Add(9*time.Hour), "Grandma calls at nine", "")
	note(chat, day.Add(20*time.Hour), "Pancakes need eggs", "")
	note(chat, day.Add(25*time.Hour), "It is today", "")
	note(agent.OfConversation("telegram:2"), day.Add(9*time.Hour), "Pancakes of others", "")
	note("alpha", day.Add(9*time.Hour), "Pancakes of an agent", "")
	rig.Must(t, m.Close())

	fitting, noted, err = recall(t.Context(), "telegram:1", `Who has the "pancakes", OR is it the BIKES? the day`, day, day.AddDate(0, 0, 1))
	rig.Must(t, err)
	rig.Same(t, "noted that day", []string{"- 2026-03-28, open end: Grandma calls at nine", "- 2026-03-28, open end: Pancakes need eggs"}, noted)
	all := strings.Join(fitting, "\n")
	rig.Check(t, len(fitting) == 2 && strings.Contains(all, "- 2026-03-27, open end: Pancakes on Sunday: With maple syrup. More.") && strings.Contains(all, "The bike is broken") && len(all) < 600, "%q", fitting)
	fitting, noted, err = recall(t.Context(), "telegram:1", "is it so?", time.Time{}, time.Time{})
	rig.Check(t, err == nil && len(fitting) == 0 && len(noted) == 0, "%q, %q, %v", fitting, noted, err)
}
