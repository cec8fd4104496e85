package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// watcher is a watch at work.
type watcher struct {
	*running
	out     *lockedBuffer
	notices string // a file: what the program of its policy was told
}

// beginWatch begins a watch by a policy, with a program that it tells.
func (m *team) beginWatch(policy string, env ...string) *watcher {
	m.Helper()
	dir := m.folder("watch")
	path, notices := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "notices")
	m.write(path, fmt.Sprintf("notify: {command: [%s]}\n%s", m.program("tell", "cat >>"+notices), policy))
	w := m.beginWatchBy(path, env...)
	w.notices = notices
	return w
}

// beginWatchBy begins a watch by a policy file, and returns when it says to the service manager that
// it is at work.
func (m *team) beginWatchBy(path string, env ...string) *watcher {
	m.Helper()
	w := &watcher{out: &lockedBuffer{}}
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(rig.ShortDir(m), "s"), Net: "unixgram"})
	m.must(err)
	defer manager.Close()
	w.running = &running{Cmd: m.command([]string{"watch", "--json", "--policy", path}, append(env, "NOTIFY_SOCKET="+manager.LocalAddr().String())...), team: m}
	w.Stdout, w.Stderr = w.out, &w.stderr
	m.must(w.Start())
	m.must(manager.SetReadDeadline(time.Now().Add(time.Minute)))
	ready := make([]byte, 100)
	n, err := manager.Read(ready)
	if err != nil || string(ready[:n]) != "READY=1" {
		m.Fatalf("the service manager was told %q, %v: %s", ready[:n], err, &w.stderr)
	}
	return w
}

// deed is what a watch did to an agent.
type deed struct{ What, Handle, Detail string }

func (w *watcher) deeds() (deeds []deed) {
	w.team.Helper()
	for line := range strings.Lines(w.out.String()) {
		var d deed
		if strings.HasSuffix(line, "\n") {
			w.team.must(json.Unmarshal([]byte(line), &d))
			deeds = append(deeds, d)
		}
	}
	return deeds
}

// waitDeed waits until the watch has said so of an agent, so many times.
func (w *watcher) waitDeed(what, handle string, times int) (last deed) {
	w.team.Helper()
	w.team.waitFor(fmt.Sprintf("%s is %s, %d times", handle, what, times), func() (bool, string) {
		n := 0
		for _, d := range w.deeds() {
			if d.What == what && d.Handle == handle {
				last = d
				n++
			}
		}
		return n >= times, w.out.String()
	})
	return last
}

// told are the events of an agent of which a person was told.
func (w *watcher) told(handle string) string {
	text, _ := os.ReadFile(w.notices) // nobody was told of anything
	var events []string
	for line := range strings.Lines(string(text)) {
		var n struct {
			Version                int
			Event, Handle, Project string
		}
		w.team.must(json.Unmarshal([]byte(line), &n))
		w.team.check(n.Version == 1 && n.Project == w.team.world.Project, "a notice is %s", line)
		if n.Handle == handle {
			events = append(events, n.Event)
		}
	}
	return strings.Join(events, " ")
}

func (w *watcher) waitTold(handle, events string) {
	w.team.Helper()
	w.team.waitFor("of "+handle+" is told "+events, func() (bool, string) { got := w.told(handle); return got == events, got })
}

// waitRemembers waits until the watch has written down that so many notices were told: one that is
// killed before tells the last once more.
func (w *watcher) waitRemembers(notices int) {
	w.team.Helper()
	w.team.waitFor(fmt.Sprintf("%d notices are remembered", notices), func() (bool, string) {
		paths, _ := filepath.Glob(filepath.Join(w.team.inState("watch"), "*.json")) // the pattern is well formed
		var memory struct {
			Pending []any
			Told    []string `json:"told_at"`
		}
		text := []byte{}
		if len(paths) == 1 {
			text, _ = os.ReadFile(paths[0])
		}
		err := json.Unmarshal(text, &memory)
		return err == nil && len(memory.Pending) == 0 && len(memory.Told) == notices, string(text)
	})
}

// interrupt ends the watch as a service manager does.
func (w *watcher) interrupt() {
	w.team.Helper()
	w.team.must(w.Process.Signal(syscall.SIGTERM))
	r := w.end()
	w.team.check(r.code == 130 && r.stderr == "", "the watch ended so: %s", r)
}

func TestWatchHealsACrash(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	w := m.beginWatch("")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.mustSay(w.waitDeed("repaired", "alpha", 1).Detail, "crashed", "level 3, resume")
	w.waitTold("alpha", "crashed repaired")
	m.check(strings.TrimSpace(m.ok("send", "alpha", "What number?", "--wait-reply")) == "42", "it has forgotten")
	after := m.session("alpha")
	m.check(after.SessionID == before.SessionID && after.PermissionMode == before.PermissionMode, "before %+v\nafter %+v", before, after)
	m.mustSay(m.ok("events", "alpha"), "\twatch\talpha\t", "repairs it, level 3")
	w.interrupt()
	m.check(len(w.deeds()) == 1 && w.told("alpha") == "crashed repaired", "%s, %s", w.out, w.told("alpha"))
}

// A watch that is killed begins again where it was: nothing is repaired or told a second time.
func TestWatchThatIsKilled(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.nbsWith([]string{"NBS_SIM_CLAUDE=dialog=login"}, "spawn", "beta", "--no-wait")
	beta := m.waitState("beta", "waiting")
	w := m.beginWatch("")
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	w.waitDeed("repaired", "alpha", 1)
	w.waitTold("alpha", "crashed repaired")
	w.waitTold("beta", "waiting")
	w.waitRemembers(3)
	m.kill(w.Process.Pid, syscall.SIGKILL)
	_ = w.end()
	again := m.beginWatch("")
	m.refused(5, "the project is watched already: watch, pid "+strconv.Itoa(again.Process.Pid), "watch")
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	again.waitDeed("repaired", "alpha", 1)
	again.waitTold("alpha", "crashed repaired crashed repaired")
	again.waitTold("beta", "waiting")
	m.mustBeLeftAlone("beta", beta)
	again.interrupt()
}

func TestWatchAfterTheTmuxServerIsKilled(t *testing.T) {
	m := standIn(t)
	before := map[string]session{}
	for _, handle := range []string{"alpha", "beta", "gamma"} {
		m.ok("spawn", handle)
		before[handle] = m.session(handle)
	}
	m.ok("stop", "gamma")
	w := m.beginWatch("")
	m.killServer()
	for _, handle := range []string{"alpha", "beta"} {
		w.waitDeed("repaired", handle, 1)
		after := m.waitState(handle, "idle")
		m.check(after.SessionID == before[handle].SessionID && after.RecordedPID != before[handle].RecordedPID, "%+v", after)
	}
	w.interrupt()
	m.mustBe("gamma", "stopped")
}

func TestWatchQuarantinesWhatCrashesAgainAndAgain(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	w := m.beginWatch("repairs: {per-agent: 2}", "NBS_SIM_CLAUDE=die-after=1500ms")
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	w.waitDeed("held", "alpha", 1)
	w.waitTold("alpha", "crashed repaired crashed repaired crashed held")
	starts := strings.Count(m.ok("events", "alpha"), "\tstart\t")
	w.interrupt()
	m.mustBe("alpha", "crashed")
	m.check(starts == 3, "it was started %d times", starts)
}

func TestWatchDoesNothingInAPause(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("spawn", "beta")
	w := m.beginWatch("")
	m.ok("pause", "--reason", "moving house")
	w.waitDeed("paused", "", 1)
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	m.kill(m.session("beta").RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.waitState("beta", "crashed")
	r := m.nbs("recover", "beta") // what is typed is done
	m.check(r.code == 0 && strings.Contains(r.stderr, "note: paused, since "), "recover in a pause: %s", r)
	m.ok("unpause")
	w.waitDeed("repaired", "alpha", 1)
	w.interrupt()
	var said []string
	for _, d := range w.deeds() {
		said = append(said, d.What+" "+d.Handle)
	}
	m.check(strings.Join(said, ",") == "paused ,unpaused ,repaired alpha", "it said %q", said)
}

// A policy in the project may be an agent's.
func TestPolicyInTheProjectIsAllowedFirst(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	path := filepath.Join(m.world.Project, "policy.yaml")
	m.write(path, "max-level: 3\n")
	m.refused(8, "hint: look at it, then: nbs-worker allow --policy '"+path+"'", "watch", "--policy", path)
	c := m.console(m.command([]string{"allow", "--policy", path}))
	c.mustShow("allow a watch to do so? [y/N] ")
	c.types("y\n")
	m.must(c.cmd.Wait())
	m.mustSay(c.seen.String(), "max-level: 3")
	m.beginWatchBy(path).interrupt()
	m.write(path, "max-level: 4\n")
	m.refused(8, "it is not as you have allowed it", "watch", "--policy", path)
	said := m.asAgent("alpha", "nbs-worker watch", "nbs-worker pause", "nbs-worker unpause")
	m.mustSay(said[0], "to watch a project is for a person", "code 8")
	m.mustSay(said[1], "code 0")
	m.mustSay(said[2], "to unpause a project needs --may-manage", "code 8")
}

// A server that is lost again and again is charged for that, and not the agents, of which each may be
// repaired once here. With the third loss it is held until a person resumes one of them.
func TestWatchHoldsATmuxServerThatIsLostAgainAndAgain(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("spawn", "beta")
	w := m.beginWatch("repairs: {per-agent: 1}")
	lose := func() { m.kill(m.serverPID(), syscall.SIGKILL) }
	for n := range 2 {
		lose()
		w.waitDeed("repaired", "alpha", n+1)
		w.waitDeed("repaired", "beta", n+1)
	}
	lose()
	m.mustSay(w.waitDeed("held", "", 1).Detail, "the tmux server at ", " died 3 times in 10 minutes")
	w.waitTold("", "held")
	m.mustBe("alpha", "lost: tmux")
	m.ok("resume", "alpha")
	w.waitDeed("repaired", "beta", 3)
	lose()
	w.waitDeed("repaired", "alpha", 3)
	w.waitDeed("repaired", "beta", 4)
	w.interrupt()
	m.check(w.told("") == "held", "of the server was told %s", w.told(""))
	m.check(!strings.Contains(w.out.String(), "quarantined"), "it said %s", w.out)
}
