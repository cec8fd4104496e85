package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// What is not adopted, and why.

// mustStayOut checks that an adoption is refused and leaves no record.
func (m *team) mustStayOut(code int, words string, args ...string) result {
	m.Helper()
	r := m.refused(code, words, append([]string{"adopt", "alpha"}, args...)...)
	if _, err := os.Stat(m.recordPath("alpha")); err == nil {
		m.Error("there is a record all the same")
	}
	return r
}

func pidFlag(pid int) string { return "--pid=" + strconv.Itoa(pid) }

// listed is the line of a process in the list of what can be adopted; "" without one. The
// list has all of the user's claudes, and so those of other tests.
func (m *team) listed(pid int, args ...string) string {
	m.Helper()
	for line := range strings.Lines(m.ok(append([]string{"adopt", "--list"}, args...)...)) {
		if strings.HasPrefix(line, strconv.Itoa(pid)+"\t") {
			return line
		}
	}
	return ""
}

func TestAdoptRefusesWhatIsNoClaude(t *testing.T) {
	m := standIn(t)
	sleeper, _ := m.sleeper()
	m.mustStayOut(4, fmt.Sprintf("pid %d is not a claude", sleeper), pidFlag(sleeper))
	m.mustStayOut(2, "there is no process 4194304", "--pid=4194304")
	m.mustStayOut(4, "1 is no process that could be adopted", "--pid=1")
	m.mustStayOut(4, "--pid PID or --tmux SESSION is needed")

	zombie := exec.Command("true")
	m.must(zombie.Start())
	m.waitDead(zombie.Process.Pid)
	m.mustStayOut(2, "it is a zombie", pidFlag(zombie.Process.Pid))
	_ = zombie.Wait()

	other := exec.Command("sleep", "600")
	other.Dir, other.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: rig.Nobody, Gid: rig.Nobody}}
	m.must(other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	m.mustStayOut(4, fmt.Sprintf("belongs to user id %d", rig.Nobody), pidFlag(other.Process.Pid))
	if _, err := os.Stat(m.inNbs()); err == nil {
		t.Error("a project was made for nothing")
	}
}

func TestAdoptRefusesAnAgent(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "beta")
	pid := m.session("beta").RecordedPID
	m.mustStayOut(5, fmt.Sprintf("process %d is agent beta already", pid), pidFlag(pid))
	m.mustStayOut(5, "is agent beta already", pidFlag(m.launcher("beta")))
	m.mustStayOut(5, "is agent beta already", "--tmux", "nbs-beta-live")
	m.refused(5, "beta", "adopt", "beta", pidFlag(pid))
	other := m.otherProject()
	r := m.refused(5, fmt.Sprintf("process %d is agent beta of the project", pid), "adopt", "alpha", pidFlag(pid), "--root", other)
	if !strings.Contains(r.stderr, "hint: nbs-worker --root '"+m.world.Project+"' session beta\n") {
		t.Errorf("%s", r)
	}
	if m.listed(pid) != "" {
		t.Error("the list has an agent of the project")
	}
	if list := m.listed(pid, "--root", other); !strings.Contains(list, "is agent beta of the project") {
		t.Errorf("%q", list)
	}
}

func TestAdoptRefusesOneWithoutMemory(t *testing.T) {
	m := real(t)
	pid := m.byHandOn("default", "child", []string{"CLAUDE_CODE_CHILD_SESSION=1"}, handArgs...)
	m.waitSaid("child", "❯")
	m.mustStayOut(4, "writes no transcript", pidFlag(pid))
}

func TestAdoptRefusesAHeadlessOne(t *testing.T) {
	m := real(t)
	pid := m.byHand("print", "-p", "--model", "sonnet", "--", "[[slow 20s]] one two three four five six")
	m.waitFor("it is in the registry", func() (bool, string) {
		text, err := os.ReadFile(filepath.Join(m.world.ConfigDir, "sessions", fmt.Sprint(pid, ".json")))
		return err == nil, string(text)
	})
	m.mustStayOut(4, `entry point "sdk-cli"`, pidFlag(pid))
}

func TestAdoptRefusesAtADialog(t *testing.T) {
	m := real(t)
	m.dir = m.otherProject() // which is not trusted
	pid := m.byHand("hand", handArgs...)
	m.waitSaid("hand", "trust")
	m.mustStayOut(8, "is not in Claude's registry", pidFlag(pid))
	if list := m.listed(pid); !strings.HasPrefix(list, fmt.Sprint(pid, "\t-\tunknown\t"+m.dir+"\thand on default\t(")) {
		t.Errorf("%q", list)
	}
}

func TestAdoptRefusesASessionOfTwo(t *testing.T) {
	m := standIn(t)
	pid := m.byHand("hand", handArgs...)
	m.waitIdle(m.world.ConfigDir, pid)
	m.tmux("split-window", "-t", "=hand:", "-d", "sleep 600; cat")
	m.mustStayOut(4, `the tmux session "hand" has 2 panes`, "--tmux", "hand")
	m.mustStayOut(2, `there is no tmux session "han"`, "--tmux", "han")
	m.keepServer()
	m.mustStayOut(4, `no claude runs in the tmux session "somebody"`, "--tmux", "somebody")
	m.ok("adopt", "alpha", pidFlag(pid))
	m.ok("stop", "alpha")
	if names := m.sessionNames(); !strings.Contains(names, "hand\n") {
		t.Errorf("the session of a person was ended: %q", names)
	}
}

func TestAdoptRefusesAForkedConversation(t *testing.T) {
	m := standIn(t)
	first, id := m.told("one", "42", handArgs...)
	second := m.byHand("two", append([]string{"--resume", id}, handArgs...)...)
	m.waitIdle(m.world.ConfigDir, second)
	m.mustStayOut(5, fmt.Sprintf("another claude has the conversation %s open: pid %d", id, second), pidFlag(first))
	for pid, other := range map[int]int{first: second, second: first} {
		list := m.listed(pid)
		if !strings.Contains(list, fmt.Sprintf("%d\t%s\t", pid, id)) || !strings.Contains(list, fmt.Sprintf("(pid %d has the conversation open too)", other)) {
			t.Errorf("%d: %q", pid, list)
		}
	}
}

func TestAdoptAsksForWhatCannotBeKnown(t *testing.T) {
	m := real(t)
	settings := filepath.Join(m.world.Root, "s.json")
	m.must(os.WriteFile(settings, []byte("{}"), 0o600))
	pid, id := m.told("hand", "42", "--settings", settings)
	r := m.mustStayOut(4, "the model, for --model is not on its command line; the permission mode, for it is not on its command line; its arguments, for --settings cannot be given again", pidFlag(pid))
	for _, hint := range []string{
		fmt.Sprintf("hint: nbs-worker adopt alpha --pid %d --model MODEL --permission-mode MODE -- ARGS\n", pid),
		"its last reply came from ", "--permission-mode ",
	} {
		if !strings.Contains(r.stderr, hint) {
			t.Errorf("no %q in %s", hint, r)
		}
	}
	m.ok("adopt", "alpha", pidFlag(pid), "--model", "", "--permission-mode", "plan", "--")
	s := m.session("alpha")
	if s.SessionID != id || s.Model != "" || s.PermissionMode != "plan" {
		t.Errorf("%+v", s)
	}
	m.refused(5, "alpha", "adopt", "alpha", pidFlag(pid), "--model", "", "--permission-mode", "plan", "--")
	m.refused(5, "is agent alpha already", "adopt", "beta", pidFlag(pid), "--model", "", "--permission-mode", "plan", "--")
}

// Whoever edits or copies a record does not come to end a stranger by it.
func TestForgedAdoptionEndsNobody(t *testing.T) {
	m := standIn(t)
	m.keepServer()
	pid := m.byHand("hand", handArgs...)
	m.waitIdle(m.world.ConfigDir, pid)
	m.ok("adopt", "alpha", pidFlag(pid))
	recorded := m.recordText("alpha")
	stranger := m.byHand("stranger", append([]string{"--session-id", string(agent.NewSessionID())}, handArgs...)...)
	m.waitIdle(m.world.ConfigDir, stranger)
	m.setRecord("alpha", func(fields map[string]any) { forge(fields, stranger, m.startTicks(stranger)) })
	m.refused(8, "the record is not allowed: changed since it was allowed: process", "stop", "alpha")
	m.allow("alpha")
	forged := m.session("alpha").SessionID
	m.refused(5, "Claude's registry does not confirm", "stop", "alpha")
	m.refused(5, "", "resume", "alpha", "--force") // the conversation is open elsewhere
	if now := m.session("alpha").SessionID; now != forged {
		t.Errorf("the record took the stranger's conversation: %s", now)
	}

	sleeper, _ := m.sleeper()
	m.setRecord("alpha", func(fields map[string]any) { forge(fields, sleeper, m.startTicks(sleeper)) })
	m.allow("alpha")
	m.refused(5, "Claude's registry does not confirm", "dismiss", "alpha")

	m.writeRecord("alpha", recorded)
	copied := m.otherProject()
	if out, err := exec.Command("cp", "-a", m.inNbs(), copied).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	m.refused(5, "Claude's registry does not confirm", "stop", "alpha", "--root", copied)
	for _, alive := range []int{pid, stranger, sleeper} {
		if dead(alive) {
			t.Errorf("process %d was ended", alive)
		}
	}
	m.ok("stop", "alpha")
	if !dead(pid) || dead(stranger) {
		t.Error("the wrong one was ended")
	}
}

// A record that was taken into another project, under another name, and one that calls an
// agent of another project adopted, end nobody.
func TestAdoptionThatWasTakenElsewhereEndsNobody(t *testing.T) {
	m := standIn(t)
	m.keepServer()
	pid := m.byHand("hand", handArgs...)
	m.waitIdle(m.world.ConfigDir, pid)
	m.ok("adopt", "alpha", pidFlag(pid))
	m.ok("spawn", "beta")
	spawned := m.session("beta").RecordedPID
	m.waitIdle(m.world.ConfigDir, spawned)
	m.setRecord("beta", func(fields map[string]any) { fields["restart"] = map[string]any{"policy": "no"} })

	other := m.otherProject()
	m.ok("list") // so that nothing is half written
	m.must(os.MkdirAll(filepath.Join(other, ".nbs", "sessions"), 0o700))
	take := func(handle, as string, change func(map[string]any)) {
		fields := m.record(handle)
		fields["handle"] = as
		change(fields)
		text, err := json.Marshal(fields)
		m.must(err)
		m.must(os.WriteFile(filepath.Join(other, ".nbs", "sessions", as+".json"), text, 0o600))
	}
	take("alpha", "gamma", func(map[string]any) {})
	m.refused(8, "the record is not allowed", "stop", "gamma", "--root", other)

	live := map[string]any{}
	m.must(json.Unmarshal([]byte(read(t, filepath.Join(m.world.ConfigDir, "sessions", fmt.Sprint(spawned, ".json")))), &live))
	take("beta", "delta", func(fields map[string]any) {
		fields["project_root"] = other
		delete(process(fields), "launcher")
		process(fields)["adopted"] = map[string]any{"at": "2026-02-20T11:44:07Z", "registered_ms": live["startedAt"]}
	})
	m.refused(8, "the record is not allowed", "stop", "delta", "--root", other)
	for _, alive := range []int{pid, spawned} {
		if dead(alive) {
			t.Errorf("process %d was ended", alive)
		}
	}
}

// Two commands adopt one claude under two names.
func TestOneClaudeIsAdoptedOnce(t *testing.T) {
	m := standIn(t)
	pid := m.byHand("hand", handArgs...)
	m.waitIdle(m.world.ConfigDir, pid)
	var all []*running
	for i := range 8 {
		all = append(all, m.begin("adopt", fmt.Sprint("agent", i), pidFlag(pid)))
	}
	adopted := 0
	for _, r := range all {
		if result := r.end(); result.code == 0 {
			adopted++
		} else if result.code != 5 {
			t.Errorf("%s", result)
		}
	}
	if lines := strings.Count(m.ok("list"), "\n"); adopted != 1 || lines != 1 {
		t.Errorf("%d adopted it, %d records", adopted, lines)
	}
}
