package caller

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
)

// claudeLike runs a program that looks like a claude, with the arguments, in a folder.
func claudeLike(t *testing.T, dir string, args ...string) ancestor {
	t.Helper()
	return named(t, "claude", dir, args...)
}

// named runs a program of that name with the arguments, in a folder.
func named(t *testing.T, name, dir string, args ...string) ancestor {
	t.Helper()
	cmd := exec.Command("/bin/sh")
	cmd.Args, cmd.Dir = append([]string{name, "-c", "read line", "sh"}, args...), dir
	stdin, err := cmd.StdinPipe()
	rig.Must(t, err)
	rig.Must(t, cmd.Start())
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	rig.Eventually(t, "its command line is there", func() bool { // shortly after the start has returned
		cmdline, err := local.New().Cmdline(cmd.Process.Pid)
		return err == nil && len(cmdline) > 0
	})
	return ancestor{machine: local.New(), pid: cmd.Process.Pid, env: []string{"HOME=" + dir}}
}

func TestClaudeByHandHasWhatItsCommandLineSays(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	rig.Must(t, err)
	home, err := trust.HomeOf([]string{"HOME=" + dir})
	rig.Must(t, err)
	opened := store.Absent(dir)
	opened.UseHome(home)
	f := finder{&observe.Observer{Machine: local.New(), Store: opened}}
	command := ancestor{machine: local.New(), pid: os.Getpid()}
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
		line := []ancestor{command}
		for _, args := range c.above {
			line = append(line, claudeLike(t, dir, args...))
		}
		found := f.byHand(line, ancestor{})
		found.at = f.Observer
		if found == nil {
			t.Errorf("%s: counts as a person", c.what)
			continue
		}
		doubt := ""
		if found.doubt != nil {
			doubt = found.doubt.Error()
		}
		if found.mode() != c.mode || found.record.Cwd != dir || found.manages() || (doubt == "") != (c.doubt == "") || !strings.Contains(doubt, c.doubt) {
			t.Errorf("%s: %s, doubt %q, %+v", c.what, found.mode(), doubt, found.record)
		}
	}
	elsewhere := claudeLike(t, dir)
	elsewhere.env = []string{"HOME=/elsewhere"}
	found := f.byHand([]ancestor{command, elsewhere}, ancestor{})
	rig.Check(t, found != nil && found.doubt != nil, "a command with another folder for the user's state than its claude is believed")
}

// A claude with another program name is recognised by its registry, which it may name by a path relative to its
// folder.
func TestClaudeOfAnotherNameIsNoPerson(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	node := named(t, "node", dir)
	node.env = append(node.env, claude.ConfigDirVariable+"=conf")
	_, isClaude := node.claude()
	rig.Check(t, !isClaude, "a node that no registry has")
	id, err := local.New().Identify(node.pid)
	rig.Must(t, err)
	rig.Must(t, os.MkdirAll(filepath.Join(dir, "conf", "sessions"), 0o700))
	entry := fmt.Sprintf(`{"pid":%d,"sessionId":"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11","cwd":%q,"procStart":"%d"}`, id.PID, dir, id.StartTicks)
	rig.Must(t, os.WriteFile(filepath.Join(dir, "conf", "sessions", fmt.Sprint(id.PID, ".json")), []byte(entry), 0o600))
	_, isClaude = node.claude()
	rig.Check(t, isClaude && mayBeNamed([]ancestor{node}, ""), "its registry has it")
}

// The records are read only if one may name a process of the chain.
func TestWhoMayBeNamed(t *testing.T) {
	t.Parallel()
	const mark = "00000000-0000-4000-8000-000000000001"
	for _, c := range []struct {
		what  string
		above ancestor
		want  bool
	}{
		{"a person", ancestor{}, false},
		{"a mark", ancestor{mark: mark + "2"}, true},
		{"a mark that each pane of the server has", ancestor{mark: mark}, false},
		{"what a claude's tools have left behind", ancestor{env: []string{"CLAUDECODE=1"}}, true},
		{"a claude", claudeLike(t, t.TempDir()), true},
	} {
		c.above.machine = local.New()
		got := mayBeNamed([]ancestor{{machine: c.above.machine}, c.above}, mark)
		rig.Check(t, got == c.want, "%s: %t", c.what, got)
	}
}

// A process that a claude's tools have left behind has a variable of Claude's. The variable proves nothing if the
// tmux server gives it to every pane.
func TestLeftoverOfAClaudeByHandIsNoPerson(t *testing.T) {
	t.Parallel()
	f := finder{&observe.Observer{Machine: local.New(), Store: store.Absent(t.TempDir())}}
	ofTools, plain := ancestor{machine: f.Machine, env: []string{"CLAUDECODE=1"}}, ancestor{machine: f.Machine}
	for _, line := range [][]ancestor{{ofTools}, {plain, ofTools}} {
		found := f.byHand(line, plain)
		rig.Check(t, found != nil && found.doubt != nil, "%v: %+v", line, found)
		found = f.byHand(line, ofTools)
		rig.Check(t, found == nil, "%v, below such a server: %+v", line, found)
	}
	found := f.byHand([]ancestor{plain, plain}, plain)
	rig.Check(t, found == nil, "a person: %+v", found)
}
