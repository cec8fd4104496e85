package recover

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// Why an agent died, as session and list tell it, and what to do next.

// endedAs is what session tells of an end.
type endedAs struct{ e2e.Session }

// mustHaveDied waits for the end of an agent and checks its cause in session and in list.
func (m *team) mustHaveDied(handle, cause, detail string) endedAs {
	m.Helper()
	m.WaitState(handle, cause)
	e := m.Session(handle)
	m.Check(e.Cause == detail, "the cause is %q; want %q", e.Cause, detail)
	line := cause
	if detail != "" {
		line += " (" + detail + ")"
	}
	m.MustSay(m.OK("session", handle), "State:           "+line+", says ")
	type row struct{ Handle, State, Cause string }
	var rows []row
	m.Decode(&rows, "list", "--json")
	m.Check(slices.Contains(rows, row{handle, cause, detail}), "list --json: %+v; want %s", rows, cause)
	m.MustSay(m.OK("list"), "\t"+cause)
	return endedAs{e}
}

func (m *team) endOf(handle string) endedAs { return endedAs{m.Session(handle)} }

func (e endedAs) mustAdvise(m *team, commands ...string) {
	m.Helper()
	m.Check(slices.Equal(e.Advice, commands), "the advice is %q; want %q", e.Advice, commands)
	m.MustSay(m.OK("session", "alpha"), "\nNext: ", ": "+commands[0]+"\n")
}

const bringBack = "nbs-worker resume alpha"

// The error with which the last turn ended is told, of the living and of the dead.
func TestLastErrorOfTheAPI(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	for code, class := range map[string]string{"403": "authentication_failed", "400": "unknown"} {
		m.TypeLine(m.Session("alpha"), fmt.Sprintf("Hello. [[error %s]]", code))
		e := m.WaitSession("alpha", "has failed with "+code, func(s e2e.Session) bool { return s.LastError != nil && strings.Contains(s.LastError.Text, code) })
		m.Check(e.LastError.Class == class && e.LastError.At != "", "%+v", e.LastError)
		m.WaitState("alpha", "failed")
	}
}

// A kill does not end all threads at one moment. A process whose first thread is a zombie has
// ended, though others are still on their way out.
func TestZombieLeaderIsGone(t *testing.T) {
	m := standIn(t, "leader-dies=2s")
	m.OK("spawn", "alpha")
	claude := m.WaitState("alpha", "idle").RecordedPID
	m.KeepServer()
	m.Kill(claude, syscall.SIGUSR1)
	m.WaitFor("its first thread has ended", func() (bool, string) {
		stat := e2e.StatFields(claude)
		return e2e.Ended(stat), strings.Join(stat, " ")
	})
	for _, verb := range [][]string{{"list"}, {"session", "alpha"}} {
		out := m.OK(append(verb, "--json")...)
		m.Check(!strings.Contains(out, `"state":"idle"`) && strings.Contains(out, `"running":false`) && strings.Contains(out, `"pid":null`), "a zombie is shown as the agent: %s", out)
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
			m.OK("spawn", "alpha")
			invocation, want := e2e.Process(m.Record("alpha"))["invocation"].(string), ""
			switch name {
			case "another start's":
				invocation = "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"
			case "its own":
				want = reason
			}
			claude := m.WaitState("alpha", "idle").RecordedPID
			m.reportEnd("alpha", invocation, reason)
			m.Kill(claude, syscall.SIGKILL)
			e := m.mustHaveDied("alpha", "crashed", "signal: killed")
			m.Check(e.LastExit.Reason == want, "%+v", e.LastExit)
		})
	}
}

// reportEnd writes down what a hook says when claude leaves.
func (m *team) reportEnd(handle, invocation, reason string) {
	m.Helper()
	text := fmt.Sprintf(`{"invocation":%q,"end":{"reason":"%s","at":"2026-02-20T11:44:07Z"}}`, invocation, reason)
	m.put("status/"+handle+".json", text, 0)
}
