package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// wait returns when it is so, and says what is instead when it is not.

// asleep returns when a wait has armed its watches and sleeps: what happens from then on is
// what wakes it.
func (m *team) asleep(waiting *running) {
	m.Helper()
	dir := fmt.Sprintf("/proc/%d/fdinfo", waiting.Process.Pid)
	m.waitFor("the wait watches", func() (bool, string) {
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
func (m *team) waits(args ...string) *running {
	m.Helper()
	waiting := m.begin(append([]string{"wait"}, args...)...)
	m.asleep(waiting)
	return waiting
}

func (m *team) mustEnd(waiting *running, code int, stdout, stderr string) {
	m.Helper()
	r := waiting.end()
	if r.code != code || r.stdout != stdout || !strings.Contains(r.stderr, stderr) || stderr == "" && r.stderr != "" {
		m.Errorf("want exit code %d, %q on stdout and %q on stderr, got %s", code, stdout, stderr, r)
	}
}

func TestWaitThroughTheStatesOfARealAgent(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default", "--no-wait")
		m.mustPrint("alpha\tidle\t-\n", "wait", "alpha", "--for", "ready", "--timeout", "30s")
		s := m.session("alpha")
		idle, busy, held := m.waits("alpha", "--for", "gone"), m.waits("alpha", "--for", "busy"), m.waits("alpha", "--for", "waiting")
		m.typeLine(s, `[[delay 300ms]] [[tool Bash {"command":"touch made","description":"make it"}]]`)
		m.mustEnd(busy, 0, "alpha\tbusy\t-\n", "")
		m.mustEnd(held, 0, "alpha\twaiting\tpermission prompt\n", "")
		m.refused(3, "not idle within 200ms: alpha is waiting: permission prompt\nhint: a person has to answer: nbs-worker attach alpha",
			"wait", "alpha", "--for", "idle", "--timeout", "200ms")
		after := m.waits("alpha", "--for", "idle")
		m.answer("Enter")
		m.mustEnd(after, 0, "alpha\tidle\t-\n", "")
		m.kill(s.RecordedPID, syscall.SIGKILL)
		m.mustEnd(idle, 0, "alpha\tcrashed\tsignal: killed\n", "")
		m.refused(1, "wait: alpha is gone: crashed (signal: killed)\nhint: bring it back: nbs-worker resume alpha", "wait", "alpha", "--for", "idle")
	})
}

// The one that is waited for may be ended and brought back: it is the agent that counts,
// and not its process.
func TestWaitGoesOnOverAResume(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	gone, busy := m.waits("alpha", "--for", "context-below=1%"), m.waits("alpha", "--for", "busy")
	m.ok("resume", "alpha", "--force")
	after := m.session("alpha")
	if after.RecordedPID == before.RecordedPID {
		t.Fatal("it was not started anew")
	}
	m.typeLine(after, "What number? [[delay 500ms]]")
	m.mustEnd(busy, 0, "alpha\tbusy\t-\n", "")
	m.waitState("alpha", "idle")
	m.kill(after.RecordedPID, syscall.SIGKILL)
	m.mustEnd(gone, 1, "", "alpha is gone: crashed")
}

func TestWaitForAnAgentThatIsDismissed(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	gone, busy := m.waits("ALPHA", "--for", "gone"), m.waits("alpha", "--for", "busy", "--json")
	m.ok("dismiss", "alpha")
	// It stops before its record goes: the waits may see the one or the other.
	if r := gone.end(); r.code != 0 || r.stdout != "alpha\tstopped\t-\n" && r.stdout != "alpha\tdismissed\t-\n" {
		t.Errorf("for gone: %s", r)
	}
	r := busy.end()
	var row struct {
		Handle, State string
		Met           bool
	}
	err := json.Unmarshal([]byte(r.stdout), &row)
	m.check(err == nil && r.code == 1 && (row.State == "stopped" || row.State == "dismissed") && !row.Met, "for busy: %v, %s", err, r)
	m.refused(2, "alpha", "wait", "alpha", "--for", "gone")
}

func TestWaitForSeveral(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("spawn", "beta")
	m.mustPrint("alpha\tidle\t-\nbeta\tidle\t-\n", "wait", "alpha", "beta", "--for", "idle")
	all, one := m.waits("alpha", "beta", "--for", "gone"), m.waits("alpha", "beta", "--any", "--for", "gone")
	m.ok("stop", "beta")
	m.mustEnd(one, 0, "beta\tstopped\t-\n", "")
	m.refused(1, "beta is gone: stopped", "wait", "alpha", "beta", "--for", "idle")
	m.mustPrint("alpha\tidle\t-\n", "wait", "alpha", "beta", "--any", "--for", "idle")
	m.ok("stop", "alpha")
	m.mustEnd(all, 0, "alpha\tstopped\t-\nbeta\tstopped\t-\n", "")
	m.refused(1, "alpha is gone: stopped; beta is gone: stopped", "wait", "alpha", "beta", "--any", "--for", "idle")
}

// Folders that do not exist when the wait begins are watched as soon as they do.
func TestWaitBeforeTheFoldersAreThere(t *testing.T) {
	m := standIn(t, "start-delay=700ms")
	m.ok("spawn", "alpha", "--no-wait")
	m.must(os.RemoveAll(m.inNbs("status")))
	registry := filepath.Join(m.world.ConfigDir, "sessions")
	if exists(registry) {
		t.Fatal("the stand-in has its registry already")
	}
	m.mustPrint("alpha\tidle\t-\n", "wait", "alpha", "--for", "idle", "--timeout", "30s")
	m.waitIdle(m.world.ConfigDir, m.session("alpha").RecordedPID) // what it writes later goes into the new folder
	busy := m.waits("alpha", "--for", "busy")
	entry := m.registryEntry(m.session("alpha").RecordedPID)
	m.must(os.Rename(registry, registry+"-moved"))
	text := read(t, filepath.Join(registry+"-moved", filepath.Base(entry)))
	m.write(entry, strings.Replace(text, `"idle"`, `"busy"`, 1))
	m.mustEnd(busy, 0, "alpha\tbusy\t-\n", "")
}

// A first-run dialog writes no file.
func TestWaitSeesADialog(t *testing.T) {
	m := standIn(t, "dialog=trust")
	m.ok("spawn", "alpha", "--no-wait")
	out := m.ok("wait", "alpha", "--for", "waiting", "--timeout", "30s")
	m.check(strings.HasPrefix(out, "alpha\twaiting\ttrust"), "%q", out)
}

func TestWaitForAClaudeThatIsNotLoggedIn(t *testing.T) {
	m := real(t)
	rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Project}, KeyRejected: true})
	m.env = without(m.env, "ANTHROPIC_API_KEY")
	m.ok("spawn", "alpha", "--no-wait")
	out := m.ok("wait", "alpha", "--for", "idle") // why, only a screen tells, which nobody reads once the registry knows the state
	m.check(out == "alpha\tidle\tnot logged in\n" || out == "alpha\tidle\t-\n", "%q", out)
	r := m.refused(3, "not ready within 300ms: alpha is idle, not logged in", "wait", "alpha", "--for", "ready", "--timeout", "300ms")
	m.mustSay(r.stderr, "nbs-worker attach alpha")
}

// Nothing runs while nothing happens.
func TestWaitSleeps(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	waiting := m.begin("wait", "alpha", "--for", "busy", "--for", "gone", "--timeout", "3s")
	m.mustEnd(waiting, 3, "", "not busy or gone within 3s: alpha is idle")
	usage := waiting.ProcessState.SysUsage().(*syscall.Rusage)
	took := waiting.ProcessState.UserTime() + waiting.ProcessState.SystemTime()
	// A look each 10 ms would be 300.
	m.check(usage.Nvcsw <= 250 && took <= 500*time.Millisecond, "3 s took %s of a processor and %d switches", took, usage.Nvcsw)
}

func TestWaitForAHundred(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	text := m.recordText("alpha")
	args := []string{"alpha", "--for", "busy", "--for", "gone", "--any"}
	for i := range 99 {
		handle := fmt.Sprintf("copy-%02d", i)
		m.writeRecord(handle, strings.Replace(text, `"alpha"`, `"`+handle+`"`, 1))
		args = append(args, handle)
	}
	waiting := m.waits(args...)
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	r := waiting.end()
	m.check(r.code == 0 && (strings.Contains(r.stdout, "\tcrashed\t") || strings.Contains(r.stdout, "\tlost")) && r.stderr == "", "%v", r)
}

func TestWaitRefusesWhatIsNoState(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	for words, args := range map[string][]string{
		"nothing is waited for\nhint: for example: nbs-worker wait alpha --for idle": {"alpha"},
		`there is no state "dead" to wait for`:                                       {"alpha", "--for", "dead"},
		`there is no state "idle=1" to wait for`:                                     {"alpha", "--for", "idle=1"},
		"is not a percentage from 1 to 100":                                          {"alpha", "--for", "context-below=0"},
		"exclude each other":                                                         {"alpha", "--for", "idle", "--all"},
		"is negative":                                                                {"alpha", "--for", "idle", "--timeout", "-1s"},
		"a handle is needed":                                                         {"--for", "idle"},
	} {
		m.refused(4, words, append([]string{"wait"}, args...)...)
	}
	m.refused(2, "nobody", "wait", "alpha", "nobody", "--for", "idle")
	r := m.waits("alpha", "--for", "gone")
	m.must(r.Process.Signal(syscall.SIGINT))
	m.mustEnd(r, 130, "", "interrupted")
}

// All are those that should run: one that was stopped is not waited for, one that crashed is.
func TestWaitForAllThatShouldRun(t *testing.T) {
	m := standIn(t)
	m.refused(2, "no .nbs folder", "wait", "--all", "--for", "idle")
	for _, handle := range []string{"alpha", "beta", "gamma"} {
		m.ok("spawn", handle)
		m.waitState(handle, "idle")
	}
	m.ok("stop", "beta")
	m.mustPrint("alpha\tidle\t-\ngamma\tidle\t-\n", "wait", "--all", "--for", "idle")
	m.kill(m.session("gamma").RecordedPID, syscall.SIGKILL)
	m.waitState("gamma", "crashed")
	m.refused(1, "gamma is gone: crashed (signal: killed)\nhint: bring it back: nbs-worker resume gamma", "wait", "--all", "--for", "idle")
	m.ok("stop", "--all")
	m.refused(2, "no agent of the project should run", "wait", "--all", "--for", "idle")
}
