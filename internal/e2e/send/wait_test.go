package send

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// wait returns when it is so, and says what is instead when it is not.

// asleep returns when a wait has armed its watches and sleeps: what happens from then on is
// what wakes it.
func (m *team) asleep(waiting *e2e.Running) {
	m.Helper()
	dir := fmt.Sprintf("/proc/%d/fdinfo", waiting.Process.Pid)
	m.WaitFor("the wait watches", func() (bool, string) {
		watches, pidfds := 0, 0
		infos, _ := os.ReadDir(dir)
		for _, info := range infos {
			text, _ := os.ReadFile(filepath.Join(dir, info.Name()))
			watches += strings.Count(string(text), "inotify wd:")
			pidfds += strings.Count(string(text), "\nPid:")
		}
		return watches > 2 && pidfds > 1, fmt.Sprintf("%d watches, %d pidfds; %v", watches, pidfds, waiting.ProcessState)
	})
}

// waits begins a wait, and returns when it sleeps.
func (m *team) waits(args ...string) *e2e.Running {
	m.Helper()
	waiting := m.Begin(append([]string{"wait"}, args...)...)
	m.asleep(waiting)
	return waiting
}

var notice = regexp.MustCompile(`(?m)^nbs-worker: \w+: .*; waiting until .*\n(hint: .*\n)*`)

func (m *team) mustEnd(waiting *e2e.Running, code int, stdout, stderr string) {
	m.Helper()
	r := waiting.End()
	if stderr == "" { // a wait of more than a second says for whom it waits
		r.Stderr = notice.ReplaceAllString(r.Stderr, "")
	}
	if r.Code != code || r.Stdout != stdout || !strings.Contains(r.Stderr, stderr) || stderr == "" && r.Stderr != "" {
		m.Errorf("want exit code %d, %q on stdout and %q on stderr, got %s", code, stdout, stderr, r)
	}
}

func TestWaitThroughTheStatesOfAnAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default", "--no-wait")
	m.MustPrint("alpha\tidle\t-\n", "wait", "alpha", "--for", "ready", "--timeout", e2e.Patience())
	s := m.Session("alpha")
	idle, busy, held := m.waits("alpha", "--for", "gone"), m.waits("alpha", "--for", "busy"), m.waits("alpha", "--for", "waiting")
	m.TypeLine(s, `[[until seen]] [[tool Bash {"command":"touch made","description":"make it"}]]`)
	m.mustEnd(busy, 0, "alpha\tbusy\t-\n", "")
	m.API.Release("seen")
	m.mustEnd(held, 0, "alpha\twaiting\tpermission prompt\tBash command · touch made · Do you want to proceed? [Yes / No]\n", "")
	m.asks(m.requests(), "touch made")
	m.Refused(3, "not idle within 200ms: alpha is waiting: permission prompt, it asks: Bash command · touch made · Do you want to proceed? [Yes / No]\nhint: a person has to answer; to see how: nbs-worker requests alpha",
		"wait", "alpha", "--for", "idle", "--timeout", "200ms")
	after := m.waits("alpha", "--for", "idle")
	m.answer("Enter")
	m.mustEnd(after, 0, "alpha\tidle\t-\n", "")
	m.Kill(s.RecordedPID, syscall.SIGKILL)
	m.mustEnd(idle, 0, "alpha\tcrashed\tsignal: killed\n", "")
	m.Refused(1, "wait: alpha is gone: crashed (signal: killed)\nhint: bring it back: nbs-worker resume alpha", "wait", "alpha", "--for", "idle")
	m.OK("resume", "alpha")
	m.mustWaitOverAResume(s)
	m.mustWaitForADismissal()
}

// mustWaitOverAResume ends and brings back the one that is waited for: it is the agent that counts, and not its process.
func (m *team) mustWaitOverAResume(before e2e.Session) {
	m.Helper()
	full, busy := m.waits("alpha", "--for", "context-below=1%"), m.waits("alpha", "--for", "busy")
	m.OK("resume", "alpha", "--force")
	after := m.Session("alpha")
	m.Check(after.RecordedPID != before.RecordedPID, "it was not started anew")
	m.TypeLine(after, "What number? [[until again]]")
	m.mustEnd(busy, 0, "alpha\tbusy\t-\n", "")
	m.API.Release("again")
	m.WaitState("alpha", "idle")
	m.Kill(after.RecordedPID, syscall.SIGKILL)
	m.mustEnd(full, 1, "", "alpha is gone: crashed")
	m.OK("resume", "alpha")
}

// mustWaitForADismissal dismisses the one that is waited for.
func (m *team) mustWaitForADismissal() {
	m.Helper()
	gone, busy := m.waits("ALPHA", "--for", "gone"), m.waits("alpha", "--for", "busy", "--json")
	m.OK("dismiss", "alpha")
	// It stops before its record goes: the waits may see the one or the other.
	if r := gone.End(); r.Code != 0 || r.Stdout != "alpha\tstopped\t-\n" && r.Stdout != "alpha\tdismissed\t-\n" {
		m.Errorf("for gone: %s", r)
	}
	r := busy.End()
	var row struct {
		Handle, State string
		Met           bool
	}
	err := e2e.One(r.Stdout, &row)
	m.Check(err == nil && r.Code == 1 && (row.State == "stopped" || row.State == "dismissed") && !row.Met, "for busy: %v, %s", err, r)
	m.Refused(2, "alpha", "wait", "alpha", "--for", "gone")
}

func TestWaitForSeveral(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("spawn", "beta")
	m.MustPrint("alpha\tidle\t-\nbeta\tidle\t-\n", "wait", "alpha", "beta", "--for", "idle")
	all, one := m.waits("alpha", "beta", "--for", "gone"), m.waits("alpha", "beta", "--any", "--for", "gone")
	m.OK("stop", "beta")
	m.mustEnd(one, 0, "beta\tstopped\t-\n", "")
	m.MustPrint("alpha\tidle\t-\n", "wait", "--all", "--for", "idle") // all that should run
	m.Refused(1, "beta is gone: stopped", "wait", "alpha", "beta", "--for", "idle")
	m.MustPrint("alpha\tidle\t-\n", "wait", "alpha", "beta", "--any", "--for", "idle")
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.mustEnd(all, 0, "alpha\tcrashed\tsignal: killed\nbeta\tstopped\t-\n", "")
	m.Refused(1, "alpha is gone: crashed (signal: killed); beta is gone: stopped", "wait", "alpha", "beta", "--any", "--for", "idle")
	m.Refused(1, "alpha is gone: crashed (signal: killed)\nhint: bring it back: nbs-worker resume alpha", "wait", "--all", "--for", "idle")
}

func TestWaitForAClaudeThatIsNotLoggedIn(t *testing.T) {
	m := real(t)
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Project}, KeyRejected: true})
	m.Env = e2e.Without(m.Env, "ANTHROPIC_API_KEY")
	m.OK("spawn", "alpha", "--no-wait")
	out := m.OK("wait", "alpha", "--for", "idle") // why, only a screen tells, which nobody reads once the registry knows the state
	m.Check(out == "alpha\tidle\tnot logged in\n" || out == "alpha\tidle\t-\n", "%q", out)
	r := m.Refused(3, "not ready within 300ms: alpha is idle", "wait", "alpha", "--for", "ready", "--timeout", "300ms")
	m.MustSay(r.Stderr, "not logged in", "nbs-worker attach alpha")
}

// Nothing runs while nothing happens.
func TestWaitSleeps(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	waiting := m.Begin("wait", "alpha", "--for", "busy", "--for", "gone", "--timeout", "3s")
	m.mustEnd(waiting, 3, "", "not busy or gone within 3s: alpha is idle")
	usage := waiting.ProcessState.SysUsage().(*syscall.Rusage)
	took := waiting.ProcessState.UserTime() + waiting.ProcessState.SystemTime()
	// A look each 10 ms would be 300.
	m.Check(float64(usage.Nvcsw) <= 250*rig.Slowness() && took <= rig.Scaled(500*time.Millisecond), "3 s took %s of a processor and %d switches", took, usage.Nvcsw)
	r := m.waits("alpha", "--for", "gone")
	m.Must(r.Process.Signal(syscall.SIGINT))
	m.mustEnd(r, 130, "", "interrupted")
}
