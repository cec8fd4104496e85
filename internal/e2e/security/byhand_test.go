package security

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A claude that was started by hand is no person either: it gives what it has itself. What it leaves behind is no person either, though nothing tells
// any more what it had.
func TestSecurityClaudeByHandIsNoPerson(t *testing.T) {
	m := eachVersion(t)
	m.bystander("wide")
	pid := m.ByHand("hand", "--model", "sonnet", "--permission-mode", "default", "--allowedTools=Bash")
	m.WaitIdle(m.World.ConfigDir, pid)
	hand, caller := e2e.Session{TmuxSession: "hand"}, fmt.Sprintf("a claude that was started by hand (pid %d)", pid)
	const spawn = "nbs-worker spawn beta --model sonnet "
	m.MustDenyIn(hand, caller, map[string]string{
		spawn + "--permission-mode bypassPermissions":           "an agent with the permission mode bypassPermissions",
		"env -u CLAUDECODE " + spawn + "--permission-mode auto": "an agent with the permission mode auto",
		spawn + "--env A=1":                                "--env needs --may-manage",
		spawn + "--cwd /":                                  "an agent in another folder than its own",
		spawn + "--root " + m.OtherProject():               "an agent of another project needs",
		"nbs-worker dismiss wide":                          "to dismiss another agent needs",
		"nbs-worker resume wide --force":                   "--force on another agent needs",
		"NBS_STATE=/tmp/mine " + spawn:                     "allowed to do: the command has another state folder",
		"nbs-worker stop wide":                             "to stop an agent that may do more than itself needs",
		fmt.Sprintf("nbs-worker adopt beta --pid %d", pid): "to adopt a claude needs",
	})
	m.WaitIdle(m.World.ConfigDir, pid)
	if said := m.AsClaude(hand, "CANARY=1 NBS_PERMISSION_MODE=bypassPermissions "+spawn); said[0] != "beta\ncode 0\n" {
		t.Fatalf("%q", said)
	}
	beta := m.Record("beta")
	if beta["permission_mode"] != "default" || fmt.Sprint(beta["claude_args"]) != "[--allowedTools=Bash]" || beta["cwd"] != m.World.Project || fmt.Sprint(beta["depth"]) != "1" {
		t.Errorf("%v", beta)
	}
	environ := m.Environ(m.Session("beta").RecordedPID)
	m.Check(environ["CANARY"] == "", "%v", environ)

	out := filepath.Join(rig.ShortDir(t), "out")
	script := m.Program("orphan", fmt.Sprintf("while grep -qv ') Z ' /proc/%d/stat; do sleep 0.1; done\n{ nbs-worker spawn gamma; echo code $?; } >%s.part 2>&1\nmv %s.part %s", pid, out, out, out))
	m.WaitIdle(m.World.ConfigDir, pid)
	m.AsClaude(hand, "setsid -f "+script+" </dev/null >/dev/null 2>&1")
	m.Kill(pid, syscall.SIGKILL)
	m.WaitFor("the orphan has tried", func() (bool, string) {
		text, _ := os.ReadFile(out + ".part")
		return e2e.Exists(out), fmt.Sprintf("claude %d: %v, said so far: %s\n%v", pid, e2e.StatFields(pid), text, m.Processes())
	})
	text, _ := os.ReadFile(out)
	if !strings.Contains(string(text), "cannot determine what a claude that was started by hand is allowed to do") || !strings.HasSuffix(string(text), "code 8\n") {
		t.Errorf("%s", text)
	}
}
