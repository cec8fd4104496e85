package send

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/store/trust"
)

// requests returns what the agents of the team ask.
func (m *team) requests() *requests.Drawer {
	m.Helper()
	opened, err := store.Open(m.World.Project)
	m.Must(err)
	m.Cleanup(func() { _ = opened.Close() })
	home, err := trust.HomeOf(m.Env)
	m.Must(err)
	opened.UseHome(home)
	opened.RunIn(trust.RuntimeOf(m.Env, home))
	return opened.Requests()
}

// asks waits until just one request is open, and returns it.
func (m *team) asks(d *requests.Drawer, command string) (r requests.Request) {
	m.Helper()
	m.WaitFor("a request for "+command, func() (bool, string) {
		open, err := d.List()
		if err == nil && len(open) == 1 {
			r = open[0]
		}
		return len(open) == 1 && string(r.Input) != "" && r.Tool == "Bash", fmt.Sprintf("%+v, %v", open, err)
	})
	return r
}

// isGone waits until no request is open.
func (m *team) isGone(d *requests.Drawer, id string) {
	m.Helper()
	m.WaitFor("the request is gone", func() (bool, string) {
		fate, _ := d.FateOf(id)
		return fate == requests.Gone, fmt.Sprintf("fate %d", fate)
	})
}

func (m *team) bash(file string) string {
	return fmt.Sprintf(`[[tool Bash {"command":"touch %s","description":"make it"}]]`, filepath.Join(m.World.Project, file))
}

func (m *team) has(file string) bool {
	_, err := os.Stat(filepath.Join(m.World.Project, file))
	return err == nil
}

// A request is answered from elsewhere: the tool runs or does not, and the model gets the message of a refusal. Answered
// in the terminal first, it is over, and an answer to it does nothing.
func TestRequestsAreAnswered(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	d := m.requests()
	m.say(m.bash("one"))
	r := m.asks(d, "one")
	m.Check(r.Handle == "alpha" && r.Mode == "default" && string(r.SessionID) == m.Session("alpha").SessionID && len(r.Suggested) > 0, "%+v", r)
	m.Must(d.Give(r.ID, requests.Answer{Allow: true, By: "ann"}))
	m.WaitFor("the tool runs", func() (bool, string) { return m.has("one"), m.Screen("alpha") })
	fate, a := d.FateOf(r.ID)
	m.Check(fate == requests.Taken && a.By == "ann", "fate %d, %+v", fate, a)
	m.WaitState("alpha", "idle")

	m.say(m.bash("two"))
	r = m.asks(d, "two")
	m.Must(d.Give(r.ID, requests.Answer{Message: "use mkdir instead"}))
	m.WaitFor("the model gets the message", func() (bool, string) {
		reply := m.API.Requests()
		last := string(reply[len(reply)-1].Body)
		return strings.Contains(last, "use mkdir instead"), m.Screen("alpha")
	})
	m.WaitState("alpha", "idle")
	m.Check(!m.has("two"), "a refused tool ran")

	for _, key := range []string{"Enter", "Escape"} {
		m.say(m.bash(key))
		r = m.asks(d, key)
		m.answer(key)
		m.isGone(d, r.ID)
		m.Check(d.Give(r.ID, requests.Answer{Allow: true}) != nil, "an answer to what is over is taken")
		m.WaitState("alpha", "idle")
		m.Check(m.has(key) == (key == "Enter"), "%s: the tool ran: %t", key, m.has(key))
	}
}

// hookPID returns the process that holds a request's lock.
func (m *team) hookPID(id string) (pid int) {
	m.Helper()
	m.WaitFor("the hook runs", func() (bool, string) {
		found, _ := filepath.Glob("/proc/[0-9]*/fd/*")
		for _, fd := range found {
			if target, _ := os.Readlink(fd); filepath.Base(target) == id+".lock" {
				_, err := fmt.Sscanf(fd, "/proc/%d/", &pid)
				return err == nil, ""
			}
		}
		return false, "no process has the lock"
	})
	return pid
}

// A hook that is killed leaves the dialog to the terminal.
func TestARequestEndsWithItsHook(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--permission-mode", "default")
	d := m.requests()
	m.say(m.bash("one"))
	r := m.asks(d, "one")
	m.Must(syscall.Kill(m.hookPID(r.ID), syscall.SIGKILL))
	m.isGone(d, r.ID)
	m.WaitState("alpha", "waiting")
	m.answer("Enter")
	m.WaitFor("the tool runs", func() (bool, string) { return m.has("one"), m.Screen("alpha") })
	m.WaitState("alpha", "idle")
}

// A request ends with its claude, and its hook too.
func TestARequestEndsWithItsClaude(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			m := standIn(t)
			m.OK("spawn", "alpha", "--permission-mode", "default")
			d := m.requests()
			m.say(m.bash("one"))
			r := m.asks(d, "one")
			hook := m.hookPID(r.ID)
			m.Must(syscall.Kill(m.Session("alpha").PID, signal))
			m.isGone(d, r.ID)
			m.WaitFor("the hook has ended", func() (bool, string) {
				stat := e2e.StatFields(hook)
				return e2e.Ended(stat), fmt.Sprint(stat)
			})
			m.WaitDeath("alpha")
			m.Check(!m.has("one"), "a tool ran that no one has permitted")
		})
	}
}

// Agents without answers have no request: their dialog is the terminal's.
func TestAnAgentWithoutAnswersHasNoRequest(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--permission-mode", "default", "--no-answers")
	m.say(m.bash("one"))
	m.WaitReport("alpha", "PermissionRequest", func(r e2e.Report) bool { return r.Activity.Hook == "PermissionRequest" })
	m.WaitState("alpha", "waiting")
	open, err := m.requests().List()
	m.Check(err == nil && len(open) == 0, "%+v, %v", open, err)
	m.MustSay(m.OK("session", "alpha"), "\nAnswers:         off")
	m.OK("set", "alpha", "answers=on")
	m.MustSay(m.OK("session", "alpha"), "\nAnswers:         on")
	m.answer("Enter")
	m.WaitState("alpha", "idle")
	m.OK("resume", "alpha", "--force")
	m.WaitState("alpha", "idle")
	m.say(m.bash("two"))
	r := m.asks(m.requests(), "two")
	m.Must(m.requests().Give(r.ID, requests.Answer{Allow: true, By: "ann"}))
	m.WaitFor("the tool runs", func() (bool, string) { return m.has("two"), m.Screen("alpha") })
}

// A hook that no one answers in time leaves the dialog to the terminal.
func TestTheDialogOutlastsTheHook(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default", "--no-answers")
	m.Send(0, "accepted", "alpha", m.bash("one"))
	s := m.WaitState("alpha", "waiting")
	invocation, _ := e2e.Process(m.Record("alpha"))["invocation"].(string)
	hook := m.Command([]string{"hook", "--answers", "--limit", "100ms"}, "NBS_HANDLE=alpha", "NBS_ROOT="+m.World.Project, "NBS_INVOCATION_ID="+invocation)
	hook.Stdin = strings.NewReader(fmt.Sprintf(`{"hook_event_name":"PermissionRequest","session_id":%q,"tool_name":"Bash","tool_input":{"command":"touch one"}}`, s.SessionID))
	said := m.Finish(hook)
	m.Check(said.Code == 0 && said.Stdout == "" && said.Stderr == "", "%s", said)
	m.MustPrint("[]\n", "requests", "--json")
	m.MustBe("alpha", "waiting")
	m.Check(!strings.Contains(m.Journal(), "failed"), "%s", m.Journal())
	m.answer("Enter")
	m.WaitFor("the tool runs", func() (bool, string) { return m.has("one"), m.Screen("alpha") })
	m.WaitState("alpha", "idle")
}
