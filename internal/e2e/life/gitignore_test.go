package life

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// mustStageNothing spawns, ends and looks in a project, and then stages all that git would take.
func (m *team) mustStageNothing(project string) {
	m.Helper()
	rig.Config(m, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Root, project}})
	for _, args := range [][]string{{"spawn", "alpha", "--cwd", project}, {"list"}, {"stop", "alpha"}, {"resume", "alpha"}, {"dismiss", "alpha"}} {
		m.OK(append([]string{"--root", project}, args...)...)
	}
	m.Write(filepath.Join(project, "mine.txt"), "work")
	m.Git(project, "add", "-A")
	staged := m.Git(project, "diff", "--cached", "--name-only")
	m.Check(!strings.Contains(staged, ".nbs") && strings.Contains(staged, "mine.txt"), "staged in %s:\n%s", project, staged)
}

// clone is a repository in which files un-ignore .nbs, and a clone of it.
func (m *team) clone(files map[string]string) string {
	m.Helper()
	origin := filepath.Join(m.TempDir(), "origin")
	for name, text := range files {
		m.Write(filepath.Join(origin, name), text)
	}
	m.Git(origin, "init", "-q")
	m.Git(origin, "add", "-A", "-f")
	m.Git(origin, "commit", "-q", "-m", "begin")
	clone := filepath.Join(m.World.Root, fmt.Sprintf("clone-%d", len(files)))
	m.Git(m.World.Root, "clone", "-q", origin, clone)
	return clone
}

// unignores is a list of git's that takes .nbs in again.
const unignores = "!.nbs\n!.nbs/**\n"

func TestGitStagesNothing(t *testing.T) {
	t.Parallel()
	for where, make := range map[string]func(m *team) (project string){
		"a part of a repository, whose list takes .nbs in again": func(m *team) string {
			m.Git(m.World.Project, "init", "-q")
			part := filepath.Join(m.World.Project, "part")
			m.Write(filepath.Join(part, ".gitignore"), unignores)
			return part
		},
		"a clone, and its own list takes .nbs in again": func(m *team) string { return m.clone(map[string]string{".gitignore": unignores}) },
	} {
		t.Run(where, func(t *testing.T) {
			m := standIn(t)
			m.mustStageNothing(make(m))
		})
	}
}

// Where a clone brings the list of .nbs itself, that this file differs now is all that git sees.
func TestGitStagesNoRecordInACloneWithAListInTheFolder(t *testing.T) {
	m := standIn(t)
	clone := m.clone(map[string]string{".gitignore": unignores, ".nbs/.gitignore": "!*\n!**\n", "a": ""})
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{clone}})
	m.OK("--root", clone, "spawn", "alpha", "--cwd", clone)
	m.Git(clone, "add", "-A")
	staged := m.Git(clone, "diff", "--cached", "--name-only")
	m.Check(staged == ".nbs/.gitignore\n", "staged:\n%s", staged)
}
