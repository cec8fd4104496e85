package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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

func TestGitStagesNothingInAFreshProject(t *testing.T) {
	m := standIn(t)
	m.git(m.world.Project, "init", "-q")
	m.mustStageNothing(m.world.Project)
	m.mustSayOnce(read(t, filepath.Join(m.world.Project, ".git", "info", "exclude")), "\n/.nbs/\n")
}

// A folder of a repository may be a project of its own, under a name that git takes for a pattern.
func TestGitStagesNothingInAPartOfARepository(t *testing.T) {
	m := standIn(t)
	m.git(m.world.Project, "init", "-q")
	part := filepath.Join(m.world.Project, "a[b]c", "d*")
	m.write(filepath.Join(part, ".gitignore"), "!.nbs\n!.nbs/**\n")
	m.mustStageNothing(part)
	text := read(t, filepath.Join(m.world.Project, ".git", "info", "exclude"))
	m.check(strings.HasSuffix(text, "\n/a\\[b]c/d\\*/.nbs/\n"), "%q", text)
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

func TestGitStagesNothingWhereAListUnignores(t *testing.T) {
	t.Parallel()
	for where, make := range map[string]func(m *team) (project string){
		"a clone, in its own list": func(m *team) string { return m.clone(map[string]string{".gitignore": unignores}) },
		"a clone, in .nbs":         func(m *team) string { return m.clone(map[string]string{".nbs/.gitignore": "!*\n!**\n", "a": ""}) },
		"a worktree": func(m *team) string {
			m.git(m.world.Project, "init", "-q")
			m.git(m.world.Project, "commit", "-q", "--allow-empty", "-m", "begin")
			tree := filepath.Join(m.world.Root, "tree")
			m.git(m.world.Project, "worktree", "add", "-q", tree)
			m.write(filepath.Join(tree, ".gitignore"), unignores)
			return tree
		},
		"a submodule": func(m *team) string {
			origin := m.clone(map[string]string{".gitignore": unignores})
			m.git(m.world.Project, "init", "-q")
			m.git(m.world.Project, "submodule", "add", "-q", origin, "sub")
			return filepath.Join(m.world.Project, "sub")
		},
	} {
		t.Run(where, func(t *testing.T) {
			m := standIn(t)
			m.mustStageNothing(make(m))
		})
	}
}

// With both there is no place left but the file of the repository itself: that it differs now is
// all that git sees, and doctor says that it is there.
func TestGitStagesNoRecordInACloneThatUnignoresTwice(t *testing.T) {
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

// A link in the place of the list would have us write where it leads; a pipe would have us wait.
func TestGitListThatIsNoFileIsLeftAlone(t *testing.T) {
	m := standIn(t)
	m.git(m.world.Project, "init", "-q")
	list, target := filepath.Join(m.world.Project, ".git", "info", "exclude"), filepath.Join(m.world.Root, "target")
	for what, plant := range map[string]func() error{
		"a link":          func() error { return os.Symlink(target, list) },
		"a dangling link": func() error { return os.Symlink(target+".none", list) },
		"a pipe":          func() error { return syscall.Mkfifo(list, 0o600) },
		"a folder":        func() error { return os.Mkdir(list, 0o700) },
	} {
		m.write(target, "untouched\n")
		m.must(errors.Join(os.RemoveAll(list), plant()))
		m.ok("spawn", "alpha")
		m.ok("dismiss", "alpha")
		text := read(t, target)
		m.check(text == "untouched\n" && !exists(target+".none"), "%s: %q", what, text)
	}
}

// Git is started when the line is missing, and not at each verb. A repository, or the caller's
// environment, has it run nothing.
func TestGitIsAskedOnce(t *testing.T) {
	m := standIn(t)
	m.git(m.world.Project, "init", "-q")
	owned := filepath.Join(m.world.Root, "owned")
	m.git(m.world.Project, "config", "core.fsmonitor", "touch "+owned+";true")
	calls := filepath.Join(m.TempDir(), "calls")
	real, err := exec.LookPath("git")
	m.must(err)
	spy := m.program("git", fmt.Sprintf("env | grep ^GIT_ | grep -v -e ^GIT_NO_LAZY_FETCH=1 -e ^GIT_ALLOW_PROTOCOL=none >>%[1]s\necho called >>%[1]s\nexec %[2]s \"$@\"", calls, real))
	m.env = append(m.env, m.before(spy), "GIT_DIR=/elsewhere", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=alias.rev-parse", "GIT_CONFIG_VALUE_0=!touch "+owned)
	count := func() int {
		text, _ := os.ReadFile(calls)
		m.check(!strings.Contains(string(text), "GIT_"), "git has of the caller's: %s", text)
		return strings.Count(string(text), "called\n")
	}
	m.ok("spawn", "alpha")
	first := count()
	m.ok("stop", "alpha")
	m.ok("resume", "alpha")
	m.nbs("list")
	m.ok("dismiss", "alpha")
	if first == 0 || count() != first {
		t.Errorf("%d calls at the first verb, %d after the fourth", first, count())
	}
	m.nbs("doctor")
	m.check(!exists(owned), "git was made to run a program")
}

// Where there is no git, or no repository, a verb is as it was.
func TestWithoutGit(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("dismiss", "alpha")
	m.git(m.world.Project, "init", "-q")
	m.env = append(m.env, "PATH="+m.pathWithout("git"))
	m.ok("spawn", "alpha")
	m.ok("dismiss", "alpha")
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
	m.write(filepath.Join(m.world.Project, ".git", "info", "exclude"), "")
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
