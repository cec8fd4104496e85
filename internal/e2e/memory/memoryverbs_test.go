package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

func (m *team) memoryFile() string { return filepath.Join(m.World.Project, ".nbs/memory.db") }

// An agent is briefed without a database that came with its project, and without one that is damaged, which is left alone.
func TestMemoryThatCannotBeRead(t *testing.T) {
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

	const damaged = "no database, whatever it was before"
	m.Must(os.WriteFile(m.memoryFile(), []byte(damaged), 0o600))
	m.OK("resume", "alpha", "--force", "--fresh", "--brief")
	rig.Equal(m, e2e.Read(t, m.memoryFile()), damaged, "what is there")
}
