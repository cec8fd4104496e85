package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Why an agent died, as session and list tell it, and what to do next.

// endedAs is what session tells of an end.
type endedAs = session

// mustHaveDied waits for the end of an agent and checks its cause in session and in list.
func (m *team) mustHaveDied(handle, cause, detail string) endedAs {
	m.Helper()
	m.waitState(handle, cause)
	e := m.session(handle)
	m.check(e.Cause == detail, "the cause is %q; want %q", e.Cause, detail)
	line := cause
	if detail != "" {
		line += " (" + detail + ")"
	}
	m.mustSay(m.ok("session", handle), "State:           "+line+", says ")
	type row struct{ Handle, State, Cause string }
	var rows []row
	m.decode(&rows, "list", "--json")
	m.check(slices.Contains(rows, row{handle, cause, detail}), "list --json: %+v; want %s", rows, cause)
	m.mustSay(m.ok("list"), "\t"+cause)
	return e
}

func (m *team) endOf(handle string) endedAs { return m.session(handle) }

func (e endedAs) mustAdvise(m *team, commands ...string) {
	m.Helper()
	m.check(slices.Equal(e.Advice, commands), "the advice is %q; want %q", e.Advice, commands)
	m.mustSay(m.ok("session", "alpha"), "\nNext: ", ": "+commands[0]+"\n")
}

const bringBack = "nbs-worker resume alpha"

// A power cut leaves no exit.
func TestDiedByReboot(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	launcher := m.launcher("alpha")
	m.kill(launcher, syscall.SIGSTOP)
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.kill(launcher, syscall.SIGKILL)
	m.waitDead(before.RecordedPID)
	m.waitDead(launcher)
	m.killServer()
	m.worker = rig.WorkerWith(t, "-X nbs-worker/internal/proc.testOnlyBootID=00000000-0000-4000-8000-000000000000")
	s := m.waitState("alpha", "lost: reboot")
	m.mustHaveDied("alpha", "lost: reboot", s.Cause).mustAdvise(m, bringBack)
	m.mustRemember("alpha", before)
}

// The error with which the last turn ended is told, of the living and of the dead.
func TestLastErrorOfTheAPI(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	for code, class := range map[string]string{"403": "authentication_failed", "400": "unknown"} {
		m.typeLine(m.session("alpha"), fmt.Sprintf("Hello. [[error %s]]", code))
		e := m.waitSession("alpha", "has failed with "+code, func(s session) bool { return s.LastError != nil && strings.Contains(s.LastError.Text, code) })
		m.check(e.LastError.Class == class && e.LastError.At != "", "%+v", e.LastError)
		m.waitState("alpha", "failed")
	}
}

// A kill does not end all threads at one moment. A process whose first thread is a zombie has
// ended, though others are still on their way out.
func TestZombieLeaderIsGone(t *testing.T) {
	m := standIn(t, "leader-dies=2s")
	m.ok("spawn", "alpha")
	claude := m.waitState("alpha", "idle").RecordedPID
	m.keepServer()
	m.kill(claude, syscall.SIGUSR1)
	m.waitFor("its first thread has ended", func() (bool, string) {
		stat := statFields(claude)
		return ended(stat), strings.Join(stat, " ")
	})
	for _, verb := range [][]string{{"list"}, {"session", "alpha"}} {
		out := m.ok(append(verb, "--json")...)
		m.check(!strings.Contains(out, `"state":"idle"`) && strings.Contains(out, `"running":false`) && strings.Contains(out, `"pid":null`), "a zombie is shown as the agent: %s", out)
	}
	m.mustHaveDied("alpha", "crashed", "signal: killed")
}

// What another start's claude said of its end is not this one's reason, nor is what no
// claude says. This one is killed and says nothing.
func TestReasonOfAnEndThatIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]string{"another start's": "prompt_input_exit", "no word": "\\u001b[2J", "its own": "other"} {
		t.Run(name, func(t *testing.T) {
			m := standIn(t)
			m.ok("spawn", "alpha")
			invocation, want := process(m.record("alpha"))["invocation"].(string), ""
			switch name {
			case "another start's":
				invocation = "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"
			case "its own":
				want = reason
			}
			claude := m.waitState("alpha", "idle").RecordedPID
			m.reportEnd("alpha", invocation, reason)
			m.kill(claude, syscall.SIGKILL)
			e := m.mustHaveDied("alpha", "crashed", "signal: killed")
			m.check(e.LastExit.Reason == want, "%+v", e.LastExit)
		})
	}
}

// reportEnd writes down what a hook says when claude leaves.
func (m *team) reportEnd(handle, invocation, reason string) {
	m.Helper()
	text := fmt.Sprintf(`{"invocation":%q,"end":{"reason":"%s","at":"2026-02-20T11:44:07Z"}}`, invocation, reason)
	m.put("status/"+handle+".json", text, 0)
}
