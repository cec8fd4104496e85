package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A pid means something only within its boot and its namespace, and is used again.

// namespace is a pid namespace with a /proc of its own.
type namespace struct {
	*team
	init string // its first process, as seen from outside
}

// inNamespace starts a pid namespace and moves the team's commands into it.
func (m *team) inNamespace() *namespace {
	m.Helper()
	rig.NeedsRoot(m)
	// The first process ignores SIGCHLD, so that the kernel reaps what it adopts.
	cmd := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "env", "--ignore-signal=CHLD", "cat")
	stdin, err := cmd.StdinPipe()
	m.must(err)
	m.must(cmd.Start())
	m.Cleanup(func() {
		_ = stdin.Close() // with its first process all of the namespace ends
		_ = cmd.Wait()
	})
	n := &namespace{team: m}
	m.waitFor("the namespace is there", func() (bool, string) {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid))
		n.init = strings.TrimSpace(string(children))
		name, _ := os.ReadFile("/proc/" + n.init + "/comm")
		return string(name) == "cat\n", string(name)
	})
	m.worker = m.program("nbs-worker", fmt.Sprintf(`exec nsenter --target %s --pid --mount --wd="$PWD" -- %s "$@"`, n.init, m.worker))
	return n
}

// sh runs a script inside and returns its output.
func (n *namespace) sh(script string, args ...string) string {
	n.Helper()
	cmd := exec.Command("nsenter", append([]string{"--target", n.init, "--pid", "--mount", "--", "sh", "-c", script, "sh"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		n.Fatalf("%s %q: %v: %s", script, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// stranger takes a pid that has become free, and returns what must not change.
func (n *namespace) stranger(pid int) (identity func() string) {
	n.Helper()
	at := strconv.Itoa(pid)
	n.waitFor("pid "+at+" is taken", func() (bool, string) {
		// A thread may have come between: then another try.
		got := n.sh(`echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid; setsid sleep 600 >/dev/null 2>&1 & echo $!`, at)
		if got != at {
			n.sh(`kill -KILL "$1"`, got)
		}
		return got == at, got
	})
	n.waitFor("it sleeps", func() (bool, string) {
		name := n.sh(`cat /proc/$1/comm`, at)
		return name == "sleep", name
	})
	return func() string { return n.sh(`cut -d " " -f 1,2,22 /proc/$1/stat`, at) }
}

func TestPIDThatIsAnothersNow(t *testing.T) {
	m := standIn(t)
	n := m.inNamespace()
	before := m.remembers("alpha")
	m.keepServer()
	ended := func() []func() string {
		s, launcher := m.session("alpha"), m.launcher("alpha")
		// The launcher first: no exit is recorded. Claude may be gone with it.
		n.sh(`kill -KILL $1; kill -KILL $2 || :`, strconv.Itoa(launcher), strconv.Itoa(s.RecordedPID))
		m.waitFor("both are gone", func() (bool, string) {
			m.tmux("run-shell", "-b", "true") // tmux 3.3a loses signals of ended children, that of this one too: one more makes it look
			left := n.sh(`cat /proc/$1/stat /proc/$2/stat 2>/dev/null || :`, strconv.Itoa(launcher), strconv.Itoa(s.RecordedPID))
			return left == "", left
		})
		return []func() string{n.stranger(s.RecordedPID), n.stranger(launcher)}
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
		s := m.session("alpha")
		m.check(!s.Running && s.PID == 0 && s.State == "crashed", "the stranger counts as the agent: %+v", s)
		list := m.ok("list")
		m.check(strings.HasPrefix(list, "alpha\tcrashed\t"), "%s", list)
		m.ok("stop", "alpha")
		m.mustRemember("alpha", before)
	})
	untouched(append(strangers, ended()...), func() {
		m.ok("resume", "alpha", "--force")
	})
	untouched(append(strangers, ended()...), func() {
		m.ok("dismiss", "alpha")
	})
}

func TestRecordOfAnotherPIDNamespace(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--prompt", "Remember 42.")
	before := m.waitState("alpha", "idle")
	outside := m.worker
	m.inNamespace()
	s := m.session("alpha")
	m.check(s.State == "unknown" && s.PID == 0 && !s.Running, "%+v", s)
	list := m.ok("list")
	m.check(strings.HasPrefix(list, "alpha\tunknown\t"), "%s", list)
	m.refused(5, "cannot be told: it runs on host", "resume", "alpha")
	m.refused(5, "cannot be told: it runs on host", "resume", "alpha", "--force")
	m.refused(5, "nothing was signalled", "stop", "alpha")
	m.refused(5, "nothing was signalled", "dismiss", "alpha")
	s = m.session("alpha")
	m.check(s.Desired == "running", "a stop that was refused has changed what is wanted: %+v", s)
	m.worker = outside
	s = m.session("alpha")
	m.check(s.RecordedPID == before.RecordedPID && s.Running && s.TmuxAlive, "before %+v\nafter %+v", before, s)
	m.mustRemember("alpha", before, "--force")
}
