package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/recovery/watch"
)

// The policy in the help is one, and says what holds without any.
func TestPolicyOfTheHelp(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(longOf("policy"), "\n\n  agents:")
	text, _, _ = strings.Cut(text, "\n\nThe program of notify")
	policy, err := watch.File{Text: []byte("  agents:" + text)}.Policy(watch.Policy{}, nil)
	rig.Must(t, err)
	rig.Check(t, policy.Notify != nil && slices.Equal(policy.Notify.Of, watch.Kinds), "notify: %+v", policy.Notify)
	policy.Notify, policy.Agents = nil, nil
	want := watch.Default()
	rig.Check(t, reflect.DeepEqual(policy, want), "%+v; without a policy %+v", policy, want)
}

// What a watch cannot begin with, it says in one line.
func TestWatchThatIsRefused(t *testing.T) {
	t.Parallel()
	project, home := newProject(t), t.TempDir()
	write := func(path, text string) string {
		rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	watch := func(policy string) ran { return run("--root", project, "watch", "--policy", policy) }
	watch(write(home+"/slip.yaml", "every: 5m\nmax-levl: 3\n")).want(t, fail.BadInput, "slip.yaml\", line 2, column 1: the policy: there is no field \"max-levl\"; did you mean max-level?\nhint: ", "help policy")
	watch(write(filepath.Join(project, "own.yaml"), "max-level: 4\n")).want(t, fail.Held, `own.yaml" is not allowed`, "allow --policy")
	watch(home+"/none.yaml").want(t, fail.NotFound, "there is no policy")
	run("--root", home, "watch").want(t, fail.NotFound, "no .nbs folder")
	lockWatch(t, project)
	run("--root", project, "watch").want(t, fail.Conflict, "another process already watches the project: watch, pid ")
}

// A watch goes on where nobody reads what it says any more. The test is run once more, in a process
// of which the output is such a pipe.
func TestWatchOutlivesItsReader(t *testing.T) {
	t.Parallel()
	const watched = "NBS_TEST_WATCHED"
	if project := os.Getenv(watched); project != "" {
		run("--root", project, "watch").want(t, fail.Conflict, "already watches the project")
		_, err := os.Stdout.WriteString("a deed")
		rig.Check(t, errors.Is(err, syscall.EPIPE), "%v", err)
		return
	}
	read, write, err := os.Pipe()
	rig.Must(t, err)
	defer write.Close()
	rig.Must(t, read.Close())
	project := newProject(t)
	lockWatch(t, project)
	cmd := exec.Command(os.Args[0], "-test.run=^TestWatchOutlivesItsReader$")
	cmd.Env, cmd.Stdout = append(os.Environ(), watched+"="+project), write
	err = cmd.Run()
	rig.Check(t, err == nil, "it ended with %v", err)
}

// lockWatch has the test watch a project until its end.
func lockWatch(t *testing.T, project string) {
	t.Helper()
	s, err := store.Open(project)
	rig.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	release, err := s.LockWatch(time.Now())
	rig.Must(t, err)
	t.Cleanup(release)
}
