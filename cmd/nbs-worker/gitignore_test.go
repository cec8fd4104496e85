package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What is in .nbs gets into no repository by accident: prompts and last screens are in it, and a
// record that comes with a clone is another's.

// git runs git in a folder as the user of the test does.
func (m *team) git(dir string, args ...string) string {
	m.Helper()
	rig.Needs(m, "git")
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir, cmd.Env = dir, m.world.Env()
	return m.run(cmd)
}

func (m *team) write(path, text string) {
	m.Helper()
	m.must(os.MkdirAll(filepath.Dir(path), 0o755))
	m.must(os.WriteFile(path, []byte(text), 0o600))
}

// mustStageNothing spawns, ends and looks in a project, and then stages all that git would take.
func (m *team) mustStageNothing(project string) {
	m.Helper()
	rig.Config(m, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Root, project}})
	for _, args := range [][]string{{"spawn", "alpha", "--cwd", project}, {"list"}, {"stop", "alpha"}, {"resume", "alpha"}, {"dismiss", "alpha"}} {
		m.ok(append([]string{"--root", project}, args...)...)
	}
	m.write(filepath.Join(project, "mine.txt"), "work")
	m.git(project, "add", "-A")
	staged := m.git(project, "diff", "--cached", "--name-only")
	m.check(!strings.Contains(staged, ".nbs") && strings.Contains(staged, "mine.txt"), "staged in %s:\n%s", project, staged)
}

// clone is a repository in which files un-ignore .nbs, and a clone of it.
func (m *team) clone(files map[string]string) string {
	m.Helper()
	origin := filepath.Join(m.TempDir(), "origin")
	for name, text := range files {
		m.write(filepath.Join(origin, name), text)
	}
	m.git(origin, "init", "-q")
	m.git(origin, "add", "-A", "-f")
	m.git(origin, "commit", "-q", "-m", "begin")
	clone := filepath.Join(m.world.Root, fmt.Sprintf("clone-%d", len(files)))
	m.git(m.world.Root, "clone", "-q", origin, clone)
	return clone
}

// unignores is a list of git's that takes .nbs in again.
const unignores = "!.nbs\n!.nbs/**\n"

func TestGitStagesNothing(t *testing.T) {
	t.Parallel()
	for where, make := range map[string]func(m *team) (project string){
		"a fresh project": func(m *team) string {
			m.git(m.world.Project, "init", "-q")
			return m.world.Project
		},
		"a part of a repository, whose list takes .nbs in again": func(m *team) string {
			m.git(m.world.Project, "init", "-q")
			part := filepath.Join(m.world.Project, "part")
			m.write(filepath.Join(part, ".gitignore"), unignores)
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

// Where a clone brings the list of .nbs itself, that this file differs now is all that git sees, and
// doctor says that it is there.
func TestGitStagesNoRecordInACloneWithAListInTheFolder(t *testing.T) {
	m := standIn(t)
	clone := m.clone(map[string]string{".gitignore": unignores, ".nbs/.gitignore": "!*\n!**\n", "a": ""})
	rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{clone}})
	m.ok("--root", clone, "spawn", "alpha", "--cwd", clone)
	m.git(clone, "add", "-A")
	staged := m.git(clone, "diff", "--cached", "--name-only")
	m.check(staged == ".nbs/.gitignore\n", "staged:\n%s", staged)
	r := m.nbs("--root", clone, "doctor")
	m.check(r.code != 0, "%s", r)
	m.mustSay(r.stdout, "git tracks 1 file in .nbs, such as \".nbs/.gitignore\"")
}

// No verb starts git. A repository, or the caller's environment, has the git that doctor asks run nothing.
func TestGitIsAskedByDoctorAlone(t *testing.T) {
	m := standIn(t)
	m.git(m.world.Project, "init", "-q")
	owned := filepath.Join(m.world.Root, "owned")
	m.git(m.world.Project, "config", "core.fsmonitor", "touch "+owned+";true")
	calls := filepath.Join(m.TempDir(), "calls")
	real, err := exec.LookPath("git")
	m.must(err)
	spy := m.program("git", fmt.Sprintf("env | grep ^GIT_ | grep -v -e ^GIT_NO_LAZY_FETCH=1 -e ^GIT_ALLOW_PROTOCOL=none >>%[1]s\necho called >>%[1]s\nexec %[2]s \"$@\"", calls, real))
	m.env = append(m.env, m.before(spy), "GIT_DIR=/elsewhere", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=alias.ls-files", "GIT_CONFIG_VALUE_0=!touch "+owned)
	m.ok("spawn", "alpha")
	m.ok("dismiss", "alpha")
	m.check(!exists(calls), "a verb has started git")
	m.nbs("doctor")
	text := read(t, calls)
	m.check(!strings.Contains(text, "GIT_") && !exists(owned), "git has of the caller's, or was made to run a program: %s", text)
}

// A record that was committed once stays in the repository, whatever is ignored.
func TestDoctorFindsTrackedRecords(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.git(m.world.Project, "init", "-q")
	m.git(m.world.Project, "add", "-f", ".nbs/sessions/alpha.json")
	m.doctor(1).finds(m, "folder.tracked", "failure", "git tracks 1 file in .nbs, such as \".nbs/sessions/alpha.json\"")
	m.pasteFixes(m.doctor(1), "folder.tracked")
	m.doctor(0).isWell(m, "folder.tracked")
	m.must(os.Remove(m.inNbs(".gitignore")))
	m.doctor(1).finds(m, "folder.tracked", "warning", "git does not ignore .nbs")
	m.doctor(0, "--fix").isWell(m, "folder.tracked")
}

// pasteFixes runs what a check says that mends it.
func (m *team) pasteFixes(c checkup, id string) {
	m.Helper()
	for _, found := range c.Checks {
		for _, fix := range found.Fix {
			if _, command, ok := strings.Cut(fix, ": "); ok && found.ID == id {
				m.paste(command)
			}
		}
	}
}
