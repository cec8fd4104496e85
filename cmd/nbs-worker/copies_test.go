package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A record that was copied names the processes of the original, identity and all.

func TestCopiedRecordEndsNobody(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "bob")
	bob := m.session("bob")
	for _, args := range [][]string{{"stop", "eve"}, {"dismiss", "eve"}, {"resume", "eve", "--force"}} {
		m.writeRecord("eve", strings.Replace(m.recordText("bob"), `"handle": "bob"`, `"handle": "eve"`, 1))
		m.refused(5, "does not bear the mark of its start", args...)
	}
	if s := m.session("bob"); s.RecordedPID != bob.RecordedPID || !s.Running {
		t.Errorf("before %+v\nafter %+v", bob, s)
	}
}

func TestCopiedProjectEndsNobody(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "bob")
	bob := m.session("bob")
	other := m.otherProject()
	if out, err := exec.Command("cp", "-a", filepath.Join(m.world.Project, ".nbs"), other).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, args := range [][]string{{"stop", "bob"}, {"dismiss", "bob"}, {"resume", "bob", "--force"}} {
		m.refused(5, "does not bear the mark of its start", append(args, "--root", other)...)
	}
	if s := m.session("bob"); s.RecordedPID != bob.RecordedPID || !s.Running {
		t.Errorf("before %+v\nafter %+v", bob, s)
	}
}

// Somebody else's command line may hold any words.
func TestProcessThatOnlySoundsLikeALauncher(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	docker := exec.Command("bash", "-c", "cat; :", "docker", "run", "alpha")
	in, err := docker.StdinPipe()
	if err == nil {
		err = docker.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = docker.Wait() })
	pid := docker.Process.Pid
	m.setRecord("alpha", func(fields map[string]any) {
		process(fields)["launcher"] = map[string]any{"pid": pid, "start_ticks": m.startTicks(pid)}
		delete(fields, "exits")
	})
	m.refused(5, "does not bear the mark of its start", "stop", "alpha")
	if dead(pid) {
		t.Error("it was ended")
	}
}

// The tmux client of a verb that is killed lives on, and so does what it was asked for.
func TestStopAfterAKilledSpawnLeavesNothing(t *testing.T) {
	m := standIn(t)
	path := m.beforeTmux(`case "$*" in *new-session*) kill -9 $PPID;; esac`)
	for _, verb := range []string{"stop", "dismiss"} {
		if r := m.nbsWith([]string{path}, "spawn", verb); r.code != -1 {
			t.Fatalf("it was not killed: %s", r)
		}
		id, invocation := m.record(verb)["session_id"].(string), process(m.record(verb))["invocation"].(string)
		m.ok(verb, verb)
		if on, of := claudesOn(id), carrying(invocation); len(on)+len(of) > 0 {
			t.Errorf("after %s: claudes %v, others %v", verb, on, of)
		}
		if panes := m.tmux("list-panes", "-a"); strings.Contains(panes, "%") {
			t.Errorf("after %s: %s", verb, panes)
		}
	}
}

// A launcher that comes late finds that it is not wanted any more.
func TestLauncherThatComesAfterTheStop(t *testing.T) {
	m := standIn(t)
	hold := filepath.Join(m.world.Root, "hold")
	if err := syscall.Mkfifo(hold, 0o600); err != nil {
		t.Fatal(err)
	}
	path := m.beforeTmux(`case "$*" in *new-session*) kill -9 $PPID; read x <` + hold + `;; esac`)
	if r := m.nbsWith([]string{path}, "spawn", "alpha"); r.code != -1 {
		t.Fatalf("it was not killed: %s", r)
	}
	id := m.record("alpha")["session_id"].(string)
	m.ok("stop", "alpha")
	if err := os.WriteFile(hold, []byte("\n"), 0o600); err != nil { // now the session is made
		t.Fatal(err)
	}
	m.waitFor("the late session has come and gone", func() (bool, string) {
		left := slices.DeleteFunc(allPIDs(), func(pid int) bool {
			environ, _ := os.ReadFile(procFile(pid, "environ"))
			return dead(pid) || !strings.Contains(string(environ), m.world.Root) || pid == os.Getpid()
		})
		return len(left) == 0, m.tmux("list-panes", "-a")
	})
	if on := claudesOn(id); len(on) > 0 {
		t.Errorf("claudes: %v", on)
	}
	if s := m.session("alpha"); s.Cause != "stopped" {
		t.Errorf("%+v", s)
	}
	m.ok("resume", "alpha")
}
