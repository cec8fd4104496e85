package life

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
	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// What is not adopted, and why.

// mustStayOut checks that an adoption is refused and leaves no record.
func (m *team) mustStayOut(code int, words string, args ...string) e2e.Result {
	m.Helper()
	r := m.Refused(code, words, append([]string{"adopt", "alpha"}, args...)...)
	m.Check(!e2e.Exists(m.RecordPath("alpha")), "there is a record all the same")
	return r
}

func pidFlag(pid int) string { return "--pid=" + strconv.Itoa(pid) }

// listed is the line of a process in the list of what can be adopted; "" without one. The
// list has all of the user's claudes, and so those of other tests.
func (m *team) listed(pid int, args ...string) string {
	m.Helper()
	for line := range strings.Lines(m.OK(append([]string{"adopt", "--list"}, args...)...)) {
		if strings.HasPrefix(line, strconv.Itoa(pid)+"\t") {
			return line
		}
	}
	return ""
}

func TestAdoptRefusesWhatIsNoClaude(t *testing.T) {
	m := standIn(t)
	sleeper, _ := m.Sleeper()
	m.mustStayOut(4, fmt.Sprintf("pid %d is not a claude", sleeper), pidFlag(sleeper))
	m.mustStayOut(2, "there is no process 4194304", "--pid=4194304")
	m.mustStayOut(4, "1 is not a process that can be adopted", "--pid=1")
	m.mustStayOut(4, "--pid PID or --tmux SESSION is needed")

	zombie := exec.Command("true")
	m.Must(zombie.Start())
	m.WaitDead(zombie.Process.Pid)
	m.mustStayOut(2, "it is a zombie", pidFlag(zombie.Process.Pid))
	_ = zombie.Wait()

	other := exec.Command("sleep", "600")
	other.Dir, other.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: rig.Nobody, Gid: rig.Nobody}}
	m.Must(other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	m.mustStayOut(4, fmt.Sprintf("belongs to user id %d", rig.Nobody), pidFlag(other.Process.Pid))
	m.Check(!e2e.Exists(m.InNbs()), "a project was made for nothing")
}

func TestAdoptRefusesAnAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "beta")
	pid := m.Session("beta").RecordedPID
	m.mustStayOut(5, fmt.Sprintf("process %d is already agent beta", pid), pidFlag(pid))
	m.mustStayOut(5, "is already agent beta", pidFlag(m.Launcher("beta")))
	m.mustStayOut(5, "is already agent beta", "--tmux", "nbs-beta-live")
	m.Refused(5, "beta", "adopt", "beta", pidFlag(pid))
	other := m.OtherProject()
	r := m.Refused(5, fmt.Sprintf("process %d is agent beta of the project", pid), "adopt", "alpha", pidFlag(pid), "--root", other)
	m.MustSay(r.Stderr, "hint: nbs-worker --root '"+m.World.Project+"' session beta\n")
	m.Check(m.listed(pid) == "", "the list has an agent of the project")
	m.MustSay(m.listed(pid, "--root", other), "is agent beta of the project")
}

func TestAdoptRefusesASessionOfTwo(t *testing.T) {
	m := standIn(t)
	pid := m.idleByHand("hand", handArgs...)
	m.Tmux("split-window", "-t", "=hand:", "-d", "sleep 600; cat")
	m.mustStayOut(4, `the tmux session "hand" has 2 panes`, "--tmux", "hand")
	m.mustStayOut(2, `there is no tmux session "han"`, "--tmux", "han")
	m.KeepServer()
	m.mustStayOut(4, `no claude runs in the tmux session "somebody"`, "--tmux", "somebody")
	m.OK("adopt", "alpha", pidFlag(pid))
	m.OK("stop", "alpha")
	m.MustSay(m.SessionNames(), "hand\n") // a person's
}

func TestAdoptAsksForWhatCannotBeKnown(t *testing.T) {
	m := standIn(t)
	settings := filepath.Join(m.World.Root, "s.json")
	m.Write(settings, "{}")
	pid, id := m.told("hand", "42", "--settings", settings)
	r := m.mustStayOut(4, "the model (--model is not on its command line); the permission mode (it is not on its command line); its arguments (it is unclear how to give --settings again)", pidFlag(pid))
	m.MustSay(r.Stderr, fmt.Sprintf("hint: nbs-worker adopt alpha --pid %d --model MODEL --permission-mode MODE -- ARGS\n", pid),
		"its last reply came from ", "its transcript last has the permission mode ")
	m.OK("adopt", "alpha", pidFlag(pid), "--model", "", "--permission-mode", "plan", "--")
	s := m.Session("alpha")
	m.Check(s.SessionID == id && s.Model == "" && s.PermissionMode == "plan", "%+v", s)
	m.Refused(5, "alpha", "adopt", "alpha", pidFlag(pid), "--model", "", "--permission-mode", "plan", "--")
	m.Refused(5, "is already agent alpha", "adopt", "beta", pidFlag(pid), "--model", "", "--permission-mode", "plan", "--")
}

// Whoever edits or copies a record does not come to end a stranger by it.
func TestForgedAdoptionEndsNobody(t *testing.T) {
	m := standIn(t)
	pid := m.adopted("alpha")
	recorded := m.RecordText("alpha")
	stranger := m.idleByHand("stranger", append([]string{"--session-id", string(agent.NewSessionID())}, handArgs...)...)
	m.SetRecord("alpha", func(fields map[string]any) { e2e.Forge(fields, stranger, m.StartTicks(stranger)) })
	m.Refused(8, "the record is not allowed: changed since it was allowed: process", "stop", "alpha")
	m.Allow("alpha")
	forged := m.Session("alpha").SessionID
	m.Refused(5, "Claude's registry does not confirm", "stop", "alpha")
	m.Refused(5, "", "resume", "alpha", "--force") // the conversation is open elsewhere
	now := m.Session("alpha").SessionID
	m.Check(now == forged, "the record took the stranger's conversation: %s", now)

	sleeper, _ := m.Sleeper()
	m.SetRecord("alpha", func(fields map[string]any) { e2e.Forge(fields, sleeper, m.StartTicks(sleeper)) })
	m.Allow("alpha")
	m.Refused(5, "Claude's registry does not confirm", "dismiss", "alpha")

	m.WriteRecord("alpha", recorded)
	m.Refused(5, "Claude's registry does not confirm", "stop", "alpha", "--root", m.copiedProject())
	m.MustLive(pid, stranger, sleeper)
	m.OK("stop", "alpha")
	m.Check(e2e.Dead(pid), "it was not ended")
	m.MustLive(stranger)
}

// idleByHand starts a claude by hand and returns its pid when it is at its prompt.
func (m *team) idleByHand(session string, args ...string) int {
	m.Helper()
	pid := m.ByHand(session, args...)
	m.WaitIdle(m.World.ConfigDir, pid)
	return pid
}

// adopted is the pid of an agent that was started by hand, in a tmux server that somebody else uses too.
func (m *team) adopted(handle string) int {
	m.Helper()
	m.KeepServer()
	pid := m.idleByHand("hand", handArgs...)
	m.OK("adopt", handle, pidFlag(pid))
	return pid
}

// A record that was taken into another project, under another name, and one that calls an
// agent of another project adopted, end nobody.
func TestAdoptionThatWasTakenElsewhereEndsNobody(t *testing.T) {
	m := standIn(t)
	pid := m.adopted("alpha")
	m.OK("spawn", "beta")
	spawned := m.Session("beta").RecordedPID
	m.WaitIdle(m.World.ConfigDir, spawned)
	m.SetRecord("beta", func(fields map[string]any) { fields["restart"] = map[string]any{"policy": "no"} })

	other := m.OtherProject()
	m.OK("list") // so that nothing is half written
	m.Must(os.MkdirAll(filepath.Join(other, ".nbs", "sessions"), 0o700))
	take := func(handle, as string, change func(map[string]any)) {
		fields := m.Record(handle)
		fields["handle"] = as
		change(fields)
		m.Write(filepath.Join(other, ".nbs", "sessions", as+".json"), e2e.Encoded(m.Team, fields))
	}
	take("alpha", "gamma", func(map[string]any) {})
	m.Refused(8, "the record is not allowed", "stop", "gamma", "--root", other)

	live := map[string]any{}
	m.Must(json.Unmarshal(m.BytesOf(m.RegistryEntry(spawned)), &live))
	take("beta", "delta", func(fields map[string]any) {
		fields["project_root"] = other
		delete(e2e.Process(fields), "launcher")
		e2e.Process(fields)["adopted"] = map[string]any{"at": "2026-02-20T11:44:07Z", "registered_ms": live["startedAt"]}
	})
	m.Refused(8, "the record is not allowed", "stop", "delta", "--root", other)
	m.MustLive(pid, spawned)
}

// Two commands adopt one claude under two names.
func TestOneClaudeIsAdoptedOnce(t *testing.T) {
	m := standIn(t)
	pid := m.idleByHand("hand", handArgs...)
	var all []*e2e.Running
	for i := range 8 {
		all = append(all, m.Begin("adopt", fmt.Sprint("agent", i), pidFlag(pid)))
	}
	adopted := 0
	for _, r := range all {
		if result := r.End(); result.Code == 0 {
			adopted++
		} else if result.Code != 5 {
			t.Errorf("%s", result)
		}
	}
	lines := strings.Count(m.OK("list"), "\n")
	m.Check(adopted == 1 && lines == 1, "%d adopted it, %d records", adopted, lines)
}
