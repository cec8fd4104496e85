package caller

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

// Each test runs on a machine like Linux and on one like macOS.
func TestMain(m *testing.M) { os.Exit(rig.Tight(fake.OnEach(m))) }

// claudeIn is a claude with the arguments, in a folder.
func claudeIn(table *fake.Machine, pid int, dir string, args ...string) lineage.Process {
	table.Add(pid, fake.Process{Args: append([]string{"claude"}, args...), Folder: dir, Env: []string{"HOME=" + dir}})
	return lineage.Look(table.Machine(), pid)
}

func TestClaudeByHandHasWhatItsCommandLineSays(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	rig.Must(t, err)
	home, err := trust.HomeOf([]string{"HOME=" + dir})
	rig.Must(t, err)
	opened := store.Absent(dir)
	opened.UseHome(home)
	table := fake.New()
	f := finder{&observe.Project{Machine: table.Machine(), Store: opened}}
	command := lineage.Process{}
	for _, c := range []struct {
		what  string
		above [][]string // the nearest first
		mode  agent.PermissionMode
		doubt string
	}{
		{"nothing said", [][]string{{}}, "default", ""},
		{"a mode", [][]string{{"--permission-mode", "acceptEdits"}}, "acceptEdits", ""},
		{"the switch", [][]string{{"--dangerously-skip-permissions"}}, agent.BypassPermissions, ""},
		{"a mode of a later version", [][]string{{"--permission-mode=newest"}}, "newest", ""},
		{"the outer is narrower", [][]string{{"--dangerously-skip-permissions"}, {"--permission-mode", "plan"}}, "plan", ""},
		{"the inner is narrower", [][]string{{"--permission-mode", "plan"}, {"--dangerously-skip-permissions"}}, "plan", ""},
		{"the outer has other arguments", [][]string{{}, {"--disallowedTools=Bash"}}, "default", "the claude above it has other arguments"},
		{"settings", [][]string{{"--settings", "{}"}}, "default", "--settings"},
		{"an option that is not known", [][]string{{"--novel", "x"}}, "default", "--novel"},
	} {
		line := []lineage.Process{command}
		for i, args := range c.above {
			line = append(line, claudeIn(table, 10+i, dir, args...))
		}
		found := f.byHand(line, lineage.Process{})
		if found == nil {
			t.Errorf("%s: counts as a person", c.what)
			continue
		}
		found.at = f.project
		doubt := ""
		if found.doubt != nil {
			doubt = found.doubt.Error()
		}
		if table.Mac && !strings.HasPrefix(c.doubt, "--") {
			c.doubt = "its environment is hidden"
		}
		if found.mode() != c.mode || found.record.Cwd != dir || found.manages() || (doubt == "") != (c.doubt == "") || !strings.Contains(doubt, c.doubt) {
			t.Errorf("%s: %s, doubt %q, %+v", c.what, found.mode(), doubt, found.record)
		}
	}
	elsewhere := claudeIn(table, 10, dir)
	elsewhere.Env = []string{"HOME=/elsewhere"}
	found := f.byHand([]lineage.Process{command, elsewhere}, lineage.Process{})
	rig.Check(t, found != nil && found.doubt != nil, "a command with another folder for the user's state than its claude is believed")
}

// A claude with another program name is recognised by its registry, which it may name by a path relative to its
// folder.
func TestClaudeOfAnotherNameIsNoPerson(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := fake.New()
	id := table.Add(10, fake.Process{Args: []string{"node"}, Folder: dir, Env: []string{claude.ConfigDirVariable + "=conf"}})
	node := lineage.Look(table.Machine(), id.PID)
	rig.Check(t, !node.IsClaude(), "a node that no registry has")
	rig.Must(t, os.MkdirAll(filepath.Join(dir, "conf", "sessions"), 0o700))
	entry := fmt.Sprintf(`{"pid":%d,"sessionId":"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11","cwd":%q,"procStart":%q}`, id.PID, dir, table.Registered(id))
	rig.Must(t, os.WriteFile(filepath.Join(dir, "conf", "sessions", fmt.Sprint(id.PID, ".json")), []byte(entry), 0o600))
	known := !table.Mac // where its environment is hidden, so is the folder of its registry
	rig.Check(t, node.IsClaude() == known && mayBeNamed([]lineage.Process{node}, ""), "its registry has it")
}

// The records are read only if one may name a process of the chain.
func TestWhoMayBeNamed(t *testing.T) {
	t.Parallel()
	const mark = "00000000-0000-4000-8000-000000000001"
	for _, c := range []struct {
		what  string
		above lineage.Process
		want  bool
	}{
		{"a person", lineage.Process{}, false},
		{"a mark", lineage.Process{Env: []string{agent.InvocationVariable + "=" + mark + "2"}}, true},
		{"a mark that each pane of the server has", lineage.Process{Env: []string{agent.InvocationVariable + "=" + mark}}, false},
		{"what a claude's tools have left behind", lineage.Process{Env: []string{"CLAUDECODE=1"}}, true},
		{"a claude", claudeIn(fake.New(), 10, t.TempDir()), true},
	} {
		got := mayBeNamed([]lineage.Process{{}, c.above}, mark)
		rig.Check(t, got == c.want, "%s: %t", c.what, got)
	}
}

// A process that a claude's tools have left behind has a variable of Claude's. The variable proves nothing if the
// tmux server gives it to every pane.
func TestLeftoverOfAClaudeByHandIsNoPerson(t *testing.T) {
	t.Parallel()
	f := finder{&observe.Project{Store: store.Absent(t.TempDir())}}
	ofTools, plain := lineage.Process{Env: []string{"CLAUDECODE=1"}}, lineage.Process{}
	for _, line := range [][]lineage.Process{{ofTools}, {plain, ofTools}} {
		found := f.byHand(line, plain)
		rig.Check(t, found != nil && found.doubt != nil, "%v: %+v", line, found)
		found = f.byHand(line, ofTools)
		rig.Check(t, found == nil, "%v, below such a server: %+v", line, found)
	}
	found := f.byHand([]lineage.Process{plain, plain}, plain)
	rig.Check(t, found == nil, "a person: %+v", found)
}
