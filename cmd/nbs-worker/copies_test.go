package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// A copy that was made while the agent was on its way names no process, but knows the start.
func TestProjectCopiedDuringTheStartEndsNobody(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "bob")
	bob, text := m.session("bob"), m.recordText("bob")
	other := m.otherProject()
	m.setRecord("bob", neverArrived)
	if out, err := exec.Command("cp", "-a", filepath.Join(m.world.Project, ".nbs"), other).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m.writeRecord("bob", text)
	for _, args := range [][]string{{"stop", "bob"}, {"dismiss", "bob"}, {"resume", "bob", "--force"}} {
		m.refused(5, "is of the same start, and of another agent or project", append(args, "--root", other)...)
	}
	if s := m.session("bob"); s.RecordedPID != bob.RecordedPID || !s.Running {
		t.Errorf("before %+v\nafter %+v", bob, s)
	}
}

func TestProjectCopiedBeforeTheSessionEndsNobody(t *testing.T) {
	m := standIn(t)
	hold := m.fifo()
	m.env = append(m.env, m.beforeTmux(`case "$*" in *new-session*) read x <`+hold+`;; esac`))
	spawn := m.begin("spawn", "bob")
	m.waitFor("its client is at work", func() (bool, string) { return len(m.named("tmux")) > 0, fmt.Sprint(m.processes()) })
	other := m.otherProject()
	if out, err := exec.Command("cp", "-a", filepath.Join(m.world.Project, ".nbs"), other).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, verb := range []string{"stop", "dismiss"} {
		m.refused(5, "is of the same start, and of another agent or project", verb, "bob", "--root", other)
	}
	if err := os.WriteFile(hold, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := spawn.end(); r.code != 0 || !m.session("bob").Running {
		t.Errorf("%s\n%+v", r, m.session("bob"))
	}
}

// A launcher has no other mark of its agent than its command line.
func TestCopiedRecordDoesNotEndTheLauncherOfTheOriginal(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "carol")
	m.ok("stop", "carol")
	m.setRecord("carol", neverArrived)
	invocation := process(m.record("carol"))["invocation"].(string)
	launcher := exec.Command("bash", "-c", "cat; :", "nbs-worker", "run", "bob")
	launcher.Dir, launcher.Env = m.world.Project, []string{"PATH=" + m.variable("PATH"), "NBS_LAUNCH=" + invocation, "NBS_INVOCATION_ID=" + invocation}
	in, err := launcher.StdinPipe()
	if err == nil {
		err = launcher.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = launcher.Wait() })
	m.refused(5, "is of the same start, and of another agent or project", "stop", "carol")
	if dead(launcher.Process.Pid) {
		t.Error("it was ended")
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
