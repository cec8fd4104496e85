package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/recovery/vigil"
	"nbs-worker/internal/store"
)

// The policy in the help is one, and says what holds without any.
func TestPolicyOfTheHelp(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(newWatchCmd(&factory{}).Long, "\n\n  agents:")
	text, _, _ = strings.Cut(text, "\n\nThe program")
	policy, err := vigil.File{Text: []byte("  agents:" + text)}.Policy(vigil.Policy{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if policy.Notify == nil || !slices.Equal(policy.Notify.Of, vigil.Kinds) {
		t.Errorf("notify: %+v", policy.Notify)
	}
	policy.Notify, policy.Agents = nil, nil
	if want := vigil.Default(); !reflect.DeepEqual(policy, want) {
		t.Errorf("%+v; without a policy %+v", policy, want)
	}
}

// What a watch cannot begin with, it says in one line.
func TestWatchThatIsRefused(t *testing.T) {
	t.Parallel()
	project, home := newProject(t), t.TempDir()
	write := func(path, text string) string {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	watch := func(policy string) ran { return run("--root", project, "watch", "--policy", policy) }
	watch(write(home+"/slip.yaml", "every: 5m\nmax-levl: 3\n")).want(t, agent.BadInput, "slip.yaml\", line 2: field max-levl not found\nhint: ", "watch --help")
	watch(write(filepath.Join(project, "own.yaml"), "max-level: 4\n")).want(t, agent.Held, `own.yaml" is not allowed`, "allow --policy")
	watch(home+"/none.yaml").want(t, agent.NotFound, "there is no policy")
	run("--root", home, "watch").want(t, agent.NotFound, "no .nbs folder")
	s, err := store.Open(project)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	release, err := s.LockWatch(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	run("--root", project, "watch").want(t, agent.Conflict, "the project is watched already: watch, pid ")
}
