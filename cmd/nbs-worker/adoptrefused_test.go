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
	m.check(!exists(m.recordPath("alpha")), "there is a record all the same")
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
	m.check(!exists(m.inNbs()), "a project was made for nothing")
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
	m.mustSay(r.stderr, "hint: nbs-worker --root '"+m.world.Project+"' session beta\n")
	m.check(m.listed(pid) == "", "the list has an agent of the project")
	m.mustSay(m.listed(pid, "--root", other), "is agent beta of the project")
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
	m.waitFor("it is in the registry, written to its end", func() (bool, string) {
		entry, _ := os.ReadFile(m.registryEntry(pid))
		return json.Valid(entry), string(entry)
	})
	m.mustStayOut(4, `entry point "sdk-cli"`, pidFlag(pid))
}

func TestAdoptRefusesAtADialog(t *testing.T) {
	m := real(t)
	m.dir = m.otherProject() // which is not trusted
	pid := m.byHand("hand", handArgs...)
	m.waitSaid("hand", "trust")
	m.mustStayOut(8, "is not in Claude's registry", pidFlag(pid))
	list := m.listed(pid)
	m.check(strings.HasPrefix(list, fmt.Sprint(pid, "\t-\tunknown\t"+m.dir+"\thand on default\t(")), "%q", list)
}

func TestAdoptRefusesASessionOfTwo(t *testing.T) {
	m := standIn(t)
	pid := m.idleByHand("hand", handArgs...)
	m.tmux("split-window", "-t", "=hand:", "-d", "sleep 600; cat")
	m.mustStayOut(4, `the tmux session "hand" has 2 panes`, "--tmux", "hand")
	m.mustStayOut(2, `there is no tmux session "han"`, "--tmux", "han")
	m.keepServer()
	m.mustStayOut(4, `no claude runs in the tmux session "somebody"`, "--tmux", "somebody")
	m.ok("adopt", "alpha", pidFlag(pid))
	m.ok("stop", "alpha")
	m.mustSay(m.sessionNames(), "hand\n") // a person's
}

func TestAdoptRefusesAForkedConversation(t *testing.T) {
	m := standIn(t)
	first, id := m.told("one", "42", handArgs...)
	second := m.idleByHand("two", append([]string{"--resume", id}, handArgs...)...)
	m.mustStayOut(5, fmt.Sprintf("another claude has the conversation %s open: pid %d", id, second), pidFlag(first))
	for pid, other := range map[int]int{first: second, second: first} {
		m.mustSay(m.listed(pid), fmt.Sprintf("%d\t%s\t", pid, id), fmt.Sprintf("(pid %d has the conversation open too)", other))
	}
}

func TestAdoptAsksForWhatCannotBeKnown(t *testing.T) {
	m := real(t)
	settings := filepath.Join(m.world.Root, "s.json")
	m.write(settings, "{}")
	pid, id := m.told("hand", "42", "--settings", settings)
	r := m.mustStayOut(4, "the model, for --model is not on its command line; the permission mode, for it is not on its command line; its arguments, for --settings cannot be given again", pidFlag(pid))
	m.mustSay(r.stderr, fmt.Sprintf("hint: nbs-worker adopt alpha --pid %d --model MODEL --permission-mode MODE -- ARGS\n", pid),
		"its last reply came from ", "--permission-mode ")
	m.ok("adopt", "alpha", pidFlag(pid), "--model", "", "--permission-mode", "plan", "--")
	s := m.session("alpha")
	m.check(s.SessionID == id && s.Model == "" && s.PermissionMode == "plan", "%+v", s)
	m.refused(5, "alpha", "adopt", "alpha", pidFlag(pid), "--model", "", "--permission-mode", "plan", "--")
	m.refused(5, "is agent alpha already", "adopt", "beta", pidFlag(pid), "--model", "", "--permission-mode", "plan", "--")
}

// Whoever edits or copies a record does not come to end a stranger by it.
func TestForgedAdoptionEndsNobody(t *testing.T) {
	m := standIn(t)
	pid := m.adopted("alpha")
	recorded := m.recordText("alpha")
	stranger := m.idleByHand("stranger", append([]string{"--session-id", string(agent.NewSessionID())}, handArgs...)...)
	m.setRecord("alpha", func(fields map[string]any) { forge(fields, stranger, m.startTicks(stranger)) })
	m.refused(8, "the record is not allowed: changed since it was allowed: process", "stop", "alpha")
	m.allow("alpha")
	forged := m.session("alpha").SessionID
	m.refused(5, "Claude's registry does not confirm", "stop", "alpha")
	m.refused(5, "", "resume", "alpha", "--force") // the conversation is open elsewhere
	now := m.session("alpha").SessionID
	m.check(now == forged, "the record took the stranger's conversation: %s", now)

	sleeper, _ := m.sleeper()
	m.setRecord("alpha", func(fields map[string]any) { forge(fields, sleeper, m.startTicks(sleeper)) })
	m.allow("alpha")
	m.refused(5, "Claude's registry does not confirm", "dismiss", "alpha")

	m.writeRecord("alpha", recorded)
	m.refused(5, "Claude's registry does not confirm", "stop", "alpha", "--root", m.copiedProject())
	m.mustLive(pid, stranger, sleeper)
	m.ok("stop", "alpha")
	m.check(dead(pid), "it was not ended")
	m.mustLive(stranger)
}

// idleByHand starts a claude by hand and returns its pid when it is at its prompt.
func (m *team) idleByHand(session string, args ...string) int {
	m.Helper()
	pid := m.byHand(session, args...)
	m.waitIdle(m.world.ConfigDir, pid)
	return pid
}

// adopted is the pid of an agent that was started by hand, in a tmux server that somebody else uses too.
func (m *team) adopted(handle string) int {
	m.Helper()
	m.keepServer()
	pid := m.idleByHand("hand", handArgs...)
	m.ok("adopt", handle, pidFlag(pid))
	return pid
}

// mustLive checks that nobody has ended these processes.
func (m *team) mustLive(pids ...int) {
	m.Helper()
	for _, pid := range pids {
		m.check(!dead(pid), "process %d was ended", pid)
	}
}

// A record that was taken into another project, under another name, and one that calls an
// agent of another project adopted, end nobody.
func TestAdoptionThatWasTakenElsewhereEndsNobody(t *testing.T) {
	m := standIn(t)
	pid := m.adopted("alpha")
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
		m.write(filepath.Join(other, ".nbs", "sessions", as+".json"), encoded(m, fields))
	}
	take("alpha", "gamma", func(map[string]any) {})
	m.refused(8, "the record is not allowed", "stop", "gamma", "--root", other)

	live := map[string]any{}
	m.must(json.Unmarshal(m.bytesOf(m.registryEntry(spawned)), &live))
	take("beta", "delta", func(fields map[string]any) {
		fields["project_root"] = other
		delete(process(fields), "launcher")
		process(fields)["adopted"] = map[string]any{"at": "2026-02-20T11:44:07Z", "registered_ms": live["startedAt"]}
	})
	m.refused(8, "the record is not allowed", "stop", "delta", "--root", other)
	m.mustLive(pid, spawned)
}

// Two commands adopt one claude under two names.
func TestOneClaudeIsAdoptedOnce(t *testing.T) {
	m := standIn(t)
	pid := m.idleByHand("hand", handArgs...)
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
	lines := strings.Count(m.ok("list"), "\n")
	m.check(adopted == 1 && lines == 1, "%d adopted it, %d records", adopted, lines)
}
