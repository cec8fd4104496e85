package security

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// A record that was committed once stays in the repository, whatever is ignored.
func TestDoctorFindsTrackedRecords(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.Git(m.World.Project, "init", "-q")
	m.Git(m.World.Project, "add", "-f", ".nbs/sessions/alpha.json")
	m.Doctor(1).Finds(m.Team, "folder.tracked", "failure", "git tracks 1 file in .nbs, such as \".nbs/sessions/alpha.json\"")
	m.pasteFixes(m.Doctor(1), "folder.tracked")
	m.Doctor(0).IsWell(m.Team, "folder.tracked")
	m.Must(os.Remove(m.InNbs(".gitignore")))
	m.Doctor(1).Finds(m.Team, "folder.tracked", "warning", "git does not ignore .nbs")
	m.Doctor(0, "--fix").IsWell(m.Team, "folder.tracked")
}

// pasteFixes runs what a check says that mends it.
func (m *team) pasteFixes(c e2e.Checkup, id string) {
	m.Helper()
	for _, found := range c.Checks {
		for _, fix := range found.Fix {
			if _, command, ok := strings.Cut(fix, ": "); ok && found.ID == id {
				m.paste(command)
			}
		}
	}
}
