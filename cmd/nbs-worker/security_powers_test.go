package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// An agent never gives more than it has, whatever it writes in front of its commands.

// asAgent has an agent run commands in its shell, one after the other, and returns what each
// printed, with its exit code behind.
func (m *team) asAgent(handle string, commands ...string) []string {
	m.Helper()
	return m.asClaude(m.waitState(handle, "idle"), commands...)
}

// asClaude has the claude of a tmux session run them.
func (m *team) asClaude(s session, commands ...string) []string {
	m.Helper()
	dir := rig.ShortDir(m)
	var body strings.Builder
	for i, command := range commands {
		fmt.Fprintf(&body, "{ %s; } >%s/%d 2>&1; echo \"code $?\" >>%s/%d\n", command, dir, i, dir, i)
	}
	script := filepath.Join(dir, "task")
	m.must(os.WriteFile(script, []byte(body.String()+"touch "+dir+"/done\n"), 0o700))
	m.typeLine(s, `[[tool Bash {"command":"sh `+script+`"}]]`)
	m.waitFor("the commands were run in "+s.TmuxSession, func() (bool, string) {
		return exists(filepath.Join(dir, "done")), m.tmux("capture-pane", "-p", "-t", "="+s.TmuxSession+":")
	})
	said := make([]string, len(commands))
	for i := range commands {
		text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		m.must(err)
		said[i] = string(text)
	}
	return said
}

// mustDeny checks that each command was held, and says why.
func (m *team) mustDeny(handle string, denied map[string]string) {
	m.Helper()
	m.mustDenyIn(m.waitState(handle, "idle"), "agent "+handle, denied)
}

// mustDenyIn is mustDeny for the claude of a tmux session, which is called by the words.
func (m *team) mustDenyIn(s session, caller string, denied map[string]string) {
	m.Helper()
	commands := slices.Sorted(maps.Keys(denied))
	for i, said := range m.asClaude(s, commands...) {
		if !strings.Contains(said, caller+" called this, and "+denied[commands[i]]) || !strings.HasSuffix(said, "code 8\n") {
			m.Errorf("%s: %s", commands[i], said)
		}
	}
}

func TestSecurityColleagueGetsNoMoreThanItsAgent(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.ok("spawn", "wide")
		m.ok("spawn", "down")
		m.ok("stop", "down")
		m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--env", "NOTE=kept", "--", "--allowedTools", "Bash")
		m.must(os.Mkdir(filepath.Join(m.world.Project, "sub"), 0o700))
		const spawn, minted = "nbs-worker spawn beta --model sonnet ", "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"
		m.mustDeny("alpha", map[string]string{
			spawn + "--permission-mode bypassPermissions":        "an agent with the permission mode bypassPermissions",
			spawn + "--permission-mode auto":                     "an agent with the permission mode auto",
			spawn + "--env A=1":                                  "--env needs --may-manage",
			spawn + "-- --add-dir /srv":                          "an argument for claude needs --may-manage",
			spawn + "--trust":                                    "--trust needs --may-manage",
			spawn + "--may-manage":                               "to give --may-manage needs",
			spawn + "--cwd /":                                    "an agent in another folder than its own",
			spawn + "--cwd sub":                                  "an agent in another folder than its own",
			spawn + "--prompt-file /etc/hostname":                "--prompt-file needs",
			spawn + "--prompt-file /nowhere --dry-run":           "--prompt-file needs",
			"nbs-worker resume down --prompt-file /nowhere":      "--prompt-file needs",
			"nbs-worker resume down --fresh":                     "--fresh needs",
			"nbs-worker resume down --session-id " + minted:      "--session-id needs",
			"nbs-worker resume down --cwd sub":                   "an agent in another folder than the recorded one",
			spawn + "--root " + m.otherProject():                 "an agent of another project needs",
			"nbs-worker resume wide --force":                     "--force on another agent needs",
			"nbs-worker resume down":                             "an agent with the permission mode bypassPermissions",
			"nbs-worker stop wide":                               "to stop an agent that may do more than itself needs",
			"nbs-worker dismiss down":                            "to dismiss another agent needs",
			"nbs-worker adopt x --pid 12345":                     "to adopt a claude needs",
			"env -u NBS_STATE XDG_STATE_HOME=/tmp/mine " + spawn: "what it may is not known: the command has another folder for the user's state",
			"NBS_STATE=/tmp/mine " + spawn:                       "what it may is not known: the command has another folder for the user's state",
		})
		evil := m.program("tmux", "exit 1")
		said := m.asAgent("alpha", "CANARY=1 NBS_PERMISSION_MODE=bypassPermissions NBS_CLAUDE=/nowhere CLAUDE_CONFIG_DIR=/nowhere PATH="+filepath.Dir(evil)+":$PATH "+spawn+"'Remember 42.'")
		if said[0] != "beta\ncode 0\n" {
			t.Fatalf("%q", said)
		}
		m.mustAnswer("beta", "OK, I will remember 42.")
		alpha, beta := m.record("alpha"), m.record("beta")
		for _, field := range []string{"permission_mode", "claude_args", "env", "config_dir", "cwd"} {
			if fmt.Sprint(alpha[field]) != fmt.Sprint(beta[field]) {
				t.Errorf("%s: alpha has %v, beta %v", field, alpha[field], beta[field])
			}
		}
		if environ := m.environ(m.session("beta").RecordedPID); environ["CANARY"] != "" || environ["NOTE"] != "kept" || fmt.Sprint(beta["depth"]) != "1" {
			t.Errorf("beta has %v and depth %v", environ, beta["depth"])
		}
		// What it has it may end and bring back.
		said = m.asAgent("alpha", "nbs-worker stop beta", "nbs-worker resume beta --cwd .")
		m.check(said[0] == "beta\ncode 0\n" && said[1] == "beta\ncode 0\n", "%q", said)
	})
}

// Claude takes the first prompt for a user's words: it runs commands in it, and reads files that
// it names, without asking.
func TestSecurityPromptOfAnAgentIsForTheModel(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.ok("spawn", "down")
	m.ok("stop", "down")
	const command, file = "a prompt that is a command of Claude's needs", "a prompt that names a file by @ needs"
	m.mustDeny("alpha", map[string]string{
		"nbs-worker spawn beta '/export /tmp/x'":                      command,
		"nbs-worker spawn beta --prompt ' !id'":                       command,
		"nbs-worker spawn beta '# note'":                              command,
		"echo '/config x=y' | nbs-worker spawn beta --prompt-file -":  command,
		"nbs-worker spawn beta 'say @/etc/hostname please' --dry-run": file,
		"nbs-worker resume down --prompt '/project-command'":          command,
		"echo '(@.env)' | nbs-worker resume down --prompt-file -":     file,
	})
	said := m.asAgent("alpha", "echo 'Remember 42, me@example.com.' | nbs-worker spawn beta --model sonnet --prompt-file -")
	m.check(said[0] == "beta\ncode 0\n", "%q", said)
	m.ok("spawn", "gamma", "/export x", "--dry-run") // a person's words are a user's
}

func TestSecurityAgentThatMayManage(t *testing.T) {
	m := real(t)
	m.ok("spawn", "other")
	m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default", "--may-manage", "--", "--allowedTools", "Bash")
	said := m.asAgent("alpha",
		"nbs-worker spawn beta --permission-mode acceptEdits --env A=1 -- --verbose", "nbs-worker spawn gamma", "nbs-worker resume other --force", "nbs-worker dismiss other")
	for i, handle := range []string{"beta", "gamma", "other", "other"} {
		if said[i] != handle+"\ncode 0\n" {
			t.Errorf("%q", said[i])
		}
	}
	mode := m.session("gamma").PermissionMode
	m.check(mode == "default", "a colleague has %s when nothing is said", mode)
}

func TestSecurityLimitsOfATeam(t *testing.T) {
	m := standIn(t)
	limits := filepath.Join(m.world.Home, ".local/state/nbs-worker/limits.json")
	m.ok("spawn", "alpha", "--model", "sonnet")
	limit := func(text string) {
		m.must(os.WriteFile(limits, []byte(text), 0o600))
	}
	limit(`{"agents": 3, "depth": 1}`)
	if said := m.asAgent("alpha", "nbs-worker spawn beta --model sonnet"); said[0] != "beta\ncode 0\n" {
		t.Fatalf("%q", said)
	}
	m.mustDeny("beta", map[string]string{"nbs-worker spawn deep": "its colleague would be 2 agents away from a person, and 1 is the limit"})
	limit(`{"agents": 2}`)
	m.mustDeny("alpha", map[string]string{"nbs-worker spawn gamma": "the project has the 2 agents that agents may fill it with"})
	for _, wrong := range []string{`{"agents": "many"}`, `{"agent": 3}`, `{"agents": -1}`, "", "{} {}"} {
		limit(wrong)
		said := m.asAgent("alpha", "nbs-worker spawn gamma")
		m.check(strings.Contains(said[0], "limits.json\" cannot be used") && strings.HasSuffix(said[0], "code 6\n"), "%s: %q", wrong, said)
	}
	m.ok("spawn", "gamma") // a person is bound by none of them
}

// Of many at one time no more come up than one after the other.
func TestSecurityLimitHoldsForManyAtOnce(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.must(os.WriteFile(filepath.Join(m.world.Home, ".local/state/nbs-worker/limits.json"), []byte(`{"agents": 3}`), 0o600))
	m.asAgent("alpha", "for i in 1 2 3 4 5 6; do nbs-worker spawn c$i --no-wait & done; wait")
	if listed := strings.Count(m.ok("list"), "\n"); listed > 3 {
		t.Errorf("there are %d agents:\n%s", listed, m.ok("list"))
	}
}

// What an agent leaves behind is nobody's terminal: it is still the agent.
func TestSecurityOrphanOfAnAgentIsNoPerson(t *testing.T) {
	m := real(t)
	m.ok("spawn", "beta")
	m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	s := m.session("alpha")
	out := filepath.Join(rig.ShortDir(t), "out")
	script := m.program("orphan", fmt.Sprintf(`for pid in %d %d; do while grep '^State:' /proc/$pid/status | grep -qv Z; do sleep 0.1; done; done
for command in "dismiss beta" "spawn gamma" "spawn gamma --env A=1"; do nbs-worker $command; echo "code $?"; done >%s.part 2>&1
mv %s.part %s`, s.RecordedPID, m.launcher("alpha"), out, out, out))
	m.asAgent("alpha", "setsid -f "+script+" </dev/null >/dev/null 2>&1")
	m.kill(s.RecordedPID, syscall.SIGKILL)
	m.waitFor("the orphan has tried", func() (bool, string) { return exists(out), "" })
	text, _ := os.ReadFile(out)
	if strings.Count(string(text), "code 8") != 3 || !strings.Contains(string(text), "agent alpha called this, and what it may is not known: it has ended") {
		t.Errorf("%s", text)
	}
	m.check(m.session("beta").Running, "beta was ended")
}

// A name is not who one is: an agent of another project has no claim on its namesake here, and
// a record that was changed makes nobody a person.
func TestSecurityCallerIsWhoItsProcessIs(t *testing.T) {
	m := real(t)
	other := m.otherProject()
	m.ok("--root", other, "spawn", "alpha", "--trust="+other)
	m.ok("spawn", "boss", "--may-manage")
	m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	boss := m.record("boss")["process"].(map[string]any)["invocation"].(string)
	m.mustDeny("alpha", map[string]string{
		"nbs-worker --root " + other + " dismiss alpha":                              "to dismiss another agent needs",
		"env -u NBS_INVOCATION_ID -u NBS_HANDLE -u NBS_ROOT nbs-worker dismiss boss": "to dismiss another agent needs",
		"NBS_HANDLE=boss NBS_INVOCATION_ID=" + boss + " nbs-worker dismiss boss":     "to dismiss another agent needs",
	})
	onATerminal := `python3 -c 'import pty, sys; sys.exit(pty.spawn(["nbs-worker", "allow", "boss"]) >> 8)'`
	said := m.asAgent("alpha", onATerminal)
	m.check(strings.Contains(said[0], "to allow is for a person, and agent alpha called this") && strings.HasSuffix(said[0], "code 8\n"), "%q", said)
	// It takes the process of the one that may manage for its own, or names none at all.
	whole := m.record("boss")
	m.setRecord("boss", func(fields map[string]any) { fields["process"] = m.record("alpha")["process"] })
	m.mustDeny("alpha", map[string]string{"nbs-worker spawn gamma --env A=1": "--env needs --may-manage"})
	m.waitState("alpha", "idle") // from here on its record tells of another's claude
	m.setRecord("alpha", func(fields map[string]any) { fields["process"] = whole["process"] })
	m.mustDeny("alpha", map[string]string{"nbs-worker spawn gamma": "what it may is not known: no record names its process"})
}
