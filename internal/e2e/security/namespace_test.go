package security

import (
	"strconv"
	"strings"
	"testing"
)

func TestPIDThatIsAnothersNow(t *testing.T) {
	m := standIn(t)
	n := m.InNamespace()
	before := m.Remembers("alpha")
	m.KeepServer()
	ended := func() []func() string {
		s, launcher := m.Session("alpha"), m.Launcher("alpha")
		// The launcher first: no exit is recorded. Claude may be gone with it.
		n.Sh(`kill -KILL $1; kill -KILL $2 || :`, strconv.Itoa(launcher), strconv.Itoa(s.RecordedPID))
		m.WaitFor("both are gone", func() (bool, string) {
			m.Tmux("run-shell", "-b", "true") // tmux 3.3a loses signals of ended children, that of this one too: one more makes it look
			left := n.Sh(`cat /proc/$1/stat /proc/$2/stat 2>/dev/null || :`, strconv.Itoa(launcher), strconv.Itoa(s.RecordedPID))
			return left == "", left
		})
		return []func() string{n.Stranger(s.RecordedPID), n.Stranger(launcher)}
	}
	untouched := func(strangers []func() string, do func()) {
		var was []string
		for _, stranger := range strangers {
			was = append(was, stranger())
		}
		do()
		for i, stranger := range strangers {
			if is := stranger(); is != was[i] {
				t.Errorf("the stranger was %s and is %s", was[i], is)
			}
		}
	}
	strangers := ended()
	untouched(strangers, func() {
		s := m.Session("alpha")
		m.Check(!s.Running && s.PID == 0 && s.State == "crashed", "the stranger counts as the agent: %+v", s)
		list := m.OK("list")
		m.Check(strings.HasPrefix(list, "alpha\tcrashed\t"), "%s", list)
		m.OK("stop", "alpha")
		m.MustRemember("alpha", before)
	})
	untouched(append(strangers, ended()...), func() {
		m.OK("resume", "alpha", "--force")
	})
	untouched(append(strangers, ended()...), func() {
		m.OK("dismiss", "alpha")
	})
}

func TestRecordOfAnotherPIDNamespace(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--prompt", "Remember 42.")
	before := m.WaitState("alpha", "idle")
	outside := m.Worker
	m.InNamespace()
	s := m.Session("alpha")
	m.Check(s.State == "unknown" && s.PID == 0 && !s.Running, "%+v", s)
	list := m.OK("list")
	m.Check(strings.HasPrefix(list, "alpha\tunknown\t"), "%s", list)
	m.Refused(5, "cannot determine whether the agent runs: it runs on host", "resume", "alpha")
	m.Refused(5, "cannot determine whether the agent runs: it runs on host", "resume", "alpha", "--force")
	m.Refused(5, "nothing was signalled", "stop", "alpha")
	m.Refused(5, "nothing was signalled", "dismiss", "alpha")
	s = m.Session("alpha")
	m.Check(s.Desired == "running", "a stop that was refused has changed what is wanted: %+v", s)
	m.Worker = outside
	s = m.Session("alpha")
	m.Check(s.RecordedPID == before.RecordedPID && s.Running && s.TmuxAlive, "before %+v\nafter %+v", before, s)
	m.MustRemember("alpha", before, "--force")
}
