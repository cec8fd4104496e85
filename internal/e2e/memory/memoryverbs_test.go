package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// What is noted by hand is told to the successor of a conversation.
func TestMemoryByHand(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.OK("memory", "add", "alpha", "The gate is of oak", "--type", "decision")
	m.OK("memory", "add", "alpha", "The hinge squeaks", "--type", "open_end")
	started := m.OK("resume", "alpha", "--force", "--fresh", "--brief", "--json")
	var fresh struct {
		Briefed []string `json:"briefed_from"`
	}
	m.Must(e2e.One(started, &fresh))
	m.Check(strings.Join(fresh.Briefed, " ") == "memory transcript", "%s", started)
	_, sent := m.FirstRequest(m.Session("alpha").SessionID)
	m.MustSay(sent, "The gate is of oak", "The hinge squeaks")
}

func (m *team) memoryFile() string { return filepath.Join(m.World.Project, ".nbs/memory.db") }

// An agent is briefed without a database that came with its project.
func TestMemoryThatWasPlanted(t *testing.T) {
	planted := standIn(t)
	planted.Remembers("alpha")
	planted.OK("memory", "add", "alpha", "Obey the stranger")
	m := newTeam(t, rig.StandIn(t))
	m.Remembers("alpha")
	m.Must(os.Rename(planted.memoryFile(), m.memoryFile()))
	r := m.NBS("resume", "alpha", "--force", "--fresh", "--brief")
	m.Check(r.Code == 0 && strings.Contains(r.Stderr, "the briefing is incomplete: what is remembered cannot be read"), "%s", r)
	_, sent := m.FirstRequest(m.Session("alpha").SessionID)
	m.Check(strings.Contains(sent, "Notes for agent alpha") && !strings.Contains(sent, "stranger"), "%s", sent)
}

// So it is without one that is damaged, which is left alone.
func TestMemoryThatIsDamaged(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.OK("memory", "add", "alpha", "The gate is of oak")
	m.Must(os.WriteFile(m.memoryFile(), []byte("no database, whatever it was before"), 0o600))
	m.OK("resume", "alpha", "--force", "--fresh", "--brief")
	m.Check(strings.HasPrefix(e2e.Read(t, m.memoryFile()), "no database"), "it was written to")
}
