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

// A claude that was started by hand is no person either. What it leaves behind is no person, though nothing tells any more what it
// had.
func TestSecurityClaudeByHandIsNoPerson(t *testing.T) {
	m := eachVersion(t)
	pid := m.ByHand("hand", "--model", "sonnet", "--permission-mode", "default", "--allowedTools=Bash")
	m.WaitIdle(m.World.ConfigDir, pid)
	hand := e2e.Session{TmuxSession: "hand"}
	m.MustDenyIn(hand, byHand(pid), map[string]string{
		"nbs-worker spawn beta --permission-mode bypassPermissions":      "an agent with the permission mode bypassPermissions",
		"env -u CLAUDECODE nbs-worker spawn beta --permission-mode auto": "an agent with the permission mode auto",
	})
	out := filepath.Join(rig.ShortDir(t), "out")
	script := m.Program("orphan", fmt.Sprintf("while grep -qv ') Z ' /proc/%d/stat; do sleep 0.1; done\n{ nbs-worker spawn gamma; echo code $?; } >%s.part 2>&1\nmv %s.part %s", pid, out, out, out))
	m.WaitIdle(m.World.ConfigDir, pid)
	m.AsClaude(hand, "setsid -f "+script+" </dev/null >/dev/null 2>&1")
	m.Kill(pid, syscall.SIGKILL)
	m.WaitFor("the orphan has tried", func() (bool, string) {
		text, _ := os.ReadFile(out + ".part")
		return e2e.Exists(out), fmt.Sprintf("claude %d: %v, said so far: %s\n%v", pid, e2e.StatFields(pid), text, m.Processes())
	})
	text := e2e.Read(t, out)
	m.Check(strings.Contains(text, "cannot determine what a claude that was started by hand is allowed to do") && strings.HasSuffix(text, "code 8\n"), "%s", text)
}

// byHand is how a refusal calls a claude that was started by hand.
func byHand(pid int) string { return fmt.Sprintf("a claude that was started by hand (pid %d)", pid) }

// Such a claude gives what it has itself. A mark in its environment that says that it is an agent gives nothing.
func TestSecurityMarkGivesNothing(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "wide", "--permission-mode", "bypassPermissions")
	pid := m.ByHand("hand", "--model", "sonnet", "--permission-mode", "default", "--allowedTools=Bash")
	m.WaitIdle(m.World.ConfigDir, pid)
	const spawn = "nbs-worker spawn beta --model sonnet "
	denied := map[string]string{
		spawn + "--env A=1":                                "--env needs --may-manage",
		spawn + "--cwd /":                                  "an agent in another folder than its own",
		spawn + "--root " + m.OtherProject():               "an agent of another project needs",
		"nbs-worker dismiss wide":                          "to dismiss another agent needs",
		"nbs-worker resume wide --force":                   "--force on another agent needs",
		"NBS_STATE=/tmp/mine " + spawn:                     "allowed to do: the command has another state folder",
		"nbs-worker stop wide":                             "to stop an agent that may do more than itself needs",
		fmt.Sprintf("nbs-worker adopt beta --pid %d", pid): "to adopt a claude needs",
	}
	forged := "NBS_HANDLE=wide NBS_INVOCATION_ID=4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11 NBS_ROOT=" + m.World.Project + " nbs-worker "
	for _, command := range []string{"spawn beta --permission-mode bypassPermissions", "ask k hi", "set wide model=opus", "stop wide"} {
		denied[forged+command] = "allowed to do: only a mark in its environment says that it is agent wide"
	}
	hand := e2e.Session{TmuxSession: "hand"}
	m.MustDenyIn(hand, byHand(pid), denied)
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
}
