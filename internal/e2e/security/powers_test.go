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

// mustDeny checks that each command was held, and says why.
func (m *team) mustDeny(handle string, denied map[string]string) {
	m.Helper()
	m.MustDenyIn(m.WaitState(handle, "idle"), "agent "+handle, denied)
}

func TestSecurityColleagueGetsNoMoreThanItsAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "wide")
	m.OK("spawn", "down")
	m.OK("stop", "down")
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--env", "NOTE=kept", "--", "--allowedTools", "Bash")
	m.Must(os.Mkdir(filepath.Join(m.World.Project, "sub"), 0o700))
	const spawn, minted = "nbs-worker spawn beta --model sonnet ", "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"
	m.mustDeny("alpha", map[string]string{
		spawn + "--permission-mode bypassPermissions":        "an agent with the permission mode bypassPermissions",
		spawn + "--env A=1":                                  "--env needs --may-manage",
		spawn + "-- --add-dir /srv":                          "an argument for claude needs --may-manage",
		spawn + "--trust":                                    "--trust needs --may-manage",
		spawn + "--may-manage":                               "to give --may-manage needs",
		spawn + "--cwd /":                                    "an agent in another folder than its own",
		spawn + "--prompt-file /etc/hostname":                "--prompt-file needs",
		"nbs-worker resume down --prompt-file /nowhere":      "--prompt-file needs",
		"nbs-worker resume down --fresh":                     "--fresh needs",
		"nbs-worker resume down --session-id " + minted:      "--session-id needs",
		"nbs-worker resume down --cwd sub":                   "an agent in another folder than the recorded one",
		spawn + "--root " + m.OtherProject():                 "an agent of another project needs",
		"nbs-worker resume wide --force":                     "--force on another agent needs",
		"nbs-worker resume down":                             "an agent with the permission mode bypassPermissions",
		"nbs-worker stop wide":                               "to stop an agent that may do more than itself needs",
		"nbs-worker dismiss down":                            "to dismiss another agent needs",
		"nbs-worker adopt x --pid 12345":                     "to adopt a claude needs",
		"env -u NBS_STATE XDG_STATE_HOME=/tmp/mine " + spawn: "allowed to do: the command has another state folder",
		"NBS_STATE=/tmp/mine " + spawn:                       "allowed to do: the command has another state folder",
	})
	evil := m.Program("tmux", "exit 1")
	said := m.AsAgent("alpha", "CANARY=1 NBS_PERMISSION_MODE=bypassPermissions NBS_CLAUDE=/nowhere CLAUDE_CONFIG_DIR=/nowhere PATH="+filepath.Dir(evil)+":$PATH "+spawn+"'Remember 42.'")
	if said[0] != "beta\ncode 0\n" {
		t.Fatalf("%q", said)
	}
	m.MustAnswer("beta", "OK, I will remember 42.")
	alpha, beta := m.Record("alpha"), m.Record("beta")
	for _, field := range []string{"permission_mode", "claude_args", "env", "config_dir", "cwd"} {
		if fmt.Sprint(alpha[field]) != fmt.Sprint(beta[field]) {
			t.Errorf("%s: alpha has %v, beta %v", field, alpha[field], beta[field])
		}
	}
	if environ := m.Environ(m.Session("beta").RecordedPID); environ["CANARY"] != "" || environ["NOTE"] != "kept" || fmt.Sprint(beta["depth"]) != "1" {
		t.Errorf("beta has %v and depth %v", environ, beta["depth"])
	}
	// What it has it may end and bring back.
	said = m.AsAgent("alpha", "nbs-worker stop beta", "nbs-worker resume beta --cwd .")
	m.Check(said[0] == "beta\ncode 0\n" && said[1] == "beta\ncode 0\n", "%q", said)
}

// Claude takes the first prompt for a user's words: it runs commands in it, and reads files that
// it names, without asking.
func TestSecurityPromptOfAnAgentIsForTheModel(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("spawn", "down")
	m.OK("stop", "down")
	const command, file = "a prompt that is one of Claude's own commands needs", "a prompt that names a file by @ needs"
	m.mustDeny("alpha", map[string]string{
		"nbs-worker spawn beta '/export /tmp/x'":                      command,
		"nbs-worker spawn beta --prompt ' !id'":                       command,
		"nbs-worker spawn beta '# note'":                              command,
		"echo '/config x=y' | nbs-worker spawn beta --prompt-file -":  command,
		"nbs-worker spawn beta 'say @/etc/hostname please' --dry-run": file,
		"nbs-worker resume down --prompt '/project-command'":          command,
		"echo '(@.env)' | nbs-worker resume down --prompt-file -":     file,
	})
	said := m.AsAgent("alpha", "echo 'Remember 42, me@example.com.' | nbs-worker spawn beta --model sonnet --prompt-file -")
	m.Check(said[0] == "beta\ncode 0\n", "%q", said)
	m.OK("spawn", "gamma", "/export x", "--dry-run") // a person's words are a user's
}

func TestSecurityAgentThatMayManage(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "other")
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default", "--may-manage", "--", "--allowedTools", "Bash")
	said := m.AsAgent("alpha",
		"nbs-worker spawn beta --permission-mode acceptEdits --env A=1 -- --verbose", "nbs-worker spawn gamma", "nbs-worker resume other --force", "nbs-worker dismiss other")
	for i, handle := range []string{"beta", "gamma", "other", "other"} {
		if said[i] != handle+"\ncode 0\n" {
			t.Errorf("%q", said[i])
		}
	}
	mode := m.Session("gamma").PermissionMode
	m.Check(mode == "default", "a colleague has %s when nothing is said", mode)
}

func TestSecurityLimitsOfATeam(t *testing.T) {
	m := standIn(t)
	limits := filepath.Join(m.World.Home, ".local/state/nbs-worker/limits.json")
	m.OK("spawn", "alpha", "--model", "sonnet")
	limit := func(text string) {
		m.Must(os.WriteFile(limits, []byte(text), 0o600))
	}
	limit(`{"agents": 3, "depth": 1}`)
	if said := m.AsAgent("alpha", "nbs-worker spawn beta --model sonnet"); said[0] != "beta\ncode 0\n" {
		t.Fatalf("%q", said)
	}
	m.mustDeny("beta", map[string]string{"nbs-worker spawn deep": "the new agent would be 2 agents away from a person; the limit is 1"})
	limit(`{"agents": 2}`)
	m.mustDeny("alpha", map[string]string{"nbs-worker spawn gamma": "the project has reached its limit of 2 agents"})
	limit(`{"agents": 4}`) // and of many at one time no more come up than one after the other
	m.AsAgent("alpha", "for i in 1 2 3 4 5 6; do nbs-worker spawn c$i --no-wait & done; wait")
	listed := m.OK("list")
	m.Check(strings.Count(listed, "\n") <= 4, "there are too many agents:\n%s", listed)
	for _, wrong := range []string{`{"agents": "many"}`, `{"agent": 3}`, `{"agents": -1}`, "", "{} {}"} {
		limit(wrong)
		said := m.AsAgent("alpha", "nbs-worker spawn gamma")
		m.Check(strings.Contains(said[0], "limits.json\" cannot be used") && strings.HasSuffix(said[0], "code 6\n"), "%s: %q", wrong, said)
	}
	m.OK("spawn", "gamma") // a person is bound by none of them
}

// What an agent leaves behind is nobody's terminal: it is still the agent.
func TestSecurityOrphanOfAnAgentIsNoPerson(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "beta")
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	s := m.Session("alpha")
	out := filepath.Join(rig.ShortDir(t), "out")
	script := m.Program("orphan", fmt.Sprintf(`for pid in %d %d; do while grep '^State:' /proc/$pid/status | grep -qv Z; do sleep 0.1; done; done
for command in "dismiss beta" "spawn gamma" "spawn gamma --env A=1"; do nbs-worker $command; echo "code $?"; done >%s.part 2>&1
mv %s.part %s`, s.RecordedPID, m.Launcher("alpha"), out, out, out))
	m.AsAgent("alpha", "setsid -f "+script+" </dev/null >/dev/null 2>&1")
	m.Kill(s.RecordedPID, syscall.SIGKILL)
	m.WaitFor("the orphan has tried", func() (bool, string) { return e2e.Exists(out), "" })
	text, _ := os.ReadFile(out)
	if strings.Count(string(text), "code 8") != 3 || !strings.Contains(string(text), "agent alpha is allowed to do: only a mark in its environment says that it is agent alpha") {
		t.Errorf("%s", text)
	}
	m.Check(m.Session("beta").Running, "beta was ended")
}

// A name is not who one is: an agent of another project has no claim on its namesake here, and
// a record that was changed makes nobody a person.
func TestSecurityCallerIsWhoItsProcessIs(t *testing.T) {
	m := standIn(t)
	other := m.OtherProject()
	m.OK("--root", other, "spawn", "alpha", "--trust="+other)
	m.OK("spawn", "boss", "--may-manage")
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	boss := m.Record("boss")["process"].(map[string]any)["invocation"].(string)
	m.mustDeny("alpha", map[string]string{
		"nbs-worker --root " + other + " dismiss alpha":                              "to dismiss another agent needs",
		"env -u NBS_INVOCATION_ID -u NBS_HANDLE -u NBS_ROOT nbs-worker dismiss boss": "to dismiss another agent needs",
		"NBS_HANDLE=boss NBS_INVOCATION_ID=" + boss + " nbs-worker dismiss boss":     "to dismiss another agent needs",
	})
	onATerminal := `python3 -c 'import pty, sys; sys.exit(pty.spawn(["nbs-worker", "allow", "boss"]) >> 8)'`
	said := m.AsAgent("alpha", onATerminal)
	m.Check(strings.Contains(said[0], "only a person may allow; agent alpha called this") && strings.HasSuffix(said[0], "code 8\n"), "%q", said)
	// It takes the process of the one that may manage for its own, or names none at all.
	whole := m.Record("boss")
	m.SetRecord("boss", func(fields map[string]any) { fields["process"] = m.Record("alpha")["process"] })
	m.mustDeny("alpha", map[string]string{"nbs-worker spawn gamma --env A=1": "--env needs --may-manage"})
	alpha := m.WaitState("alpha", "idle") // from here on its record tells of another's claude, and terminal
	m.SetRecord("alpha", func(fields map[string]any) { fields["process"] = whole["process"] })
	m.MustDenyIn(alpha, "agent alpha", map[string]string{"nbs-worker spawn gamma": "allowed to do: no record names its process"})
}
