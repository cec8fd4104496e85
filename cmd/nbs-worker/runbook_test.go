package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// The pages are executed: every sh block, in order, must succeed where it is meant
// to be used.

var shBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// page runs the commands of a runbook and returns what each block printed.
func (m *team) page(name string) []string {
	m.Helper()
	text, err := os.ReadFile(filepath.Join(rig.Root(m), "runbooks", name))
	if err != nil {
		m.Fatal(err)
	}
	var outputs []string
	for _, block := range shBlock.FindAllStringSubmatch(string(text), -1) {
		outputs = append(outputs, m.shell(block[1]))
	}
	if len(outputs) < 3 {
		m.Fatalf("%s has %d blocks", name, len(outputs))
	}
	return outputs
}

// shell runs commands as a person at a prompt would, in the project folder.
func (m *team) shell(commands string) string {
	m.Helper()
	cmd := exec.Command("sh", "-eu", "-c", commands)
	cmd.Dir, cmd.Env = m.world.Project, m.env
	r := m.finish(cmd)
	if r.code != 0 {
		m.Fatalf("%s\n%s", commands, r)
	}
	return r.stdout
}

func TestRunbookRestart(t *testing.T) {
	m := real(t)
	before := m.remembers("theologian")
	m.ok("spawn", "gatekeeper", "--model", "sonnet")
	m.ok("spawn", "scribe", "--model", "sonnet")
	m.ok("stop", "scribe")
	m.tmux("kill-server")
	m.waitState("theologian", "lost: tmux")
	m.waitState("gatekeeper", "lost: tmux")

	outputs := m.page("restart.md")
	if !strings.Contains(outputs[0], "theologian\tlost: tmux") || inAnyOrder(outputs[1]) != "gatekeeper theologian" {
		t.Errorf("%q", outputs)
	}
	if after := m.session("theologian"); !after.Running || after.SessionID != before.SessionID {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	if scribe := m.session("scribe"); scribe.Running {
		t.Errorf("a stopped agent was started: %+v", scribe)
	}
}

func TestRunbookFixup(t *testing.T) {
	m := real(t)
	before := m.remembers("theologian")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("theologian", "crashed")
	m.page("fixup.md")
	after := m.session("theologian")
	if after.SessionID == before.SessionID || len(after.PreviousSessions) != 1 {
		t.Errorf("level 4 did not begin anew: %+v", after)
	}
	if old := m.session("theologian-before"); old.SessionID != before.SessionID || !old.Running {
		t.Errorf("the old conversation was not taken up: %+v", old)
	}
}

// inAnyOrder are the lines of an output, sorted: what is done side by side is printed as it is
// done.
func inAnyOrder(lines string) string {
	words := strings.Fields(lines)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// One command brings back all that should run and do not, and tells of what cannot be read.
func TestResumeDown(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("spawn", "beta")
	m.ok("spawn", "ended")
	m.ok("stop", "ended")
	if out := m.ok("resume", "--down"); out != "" {
		t.Errorf("nothing was down, and it printed %q", out)
	}
	for _, handle := range []string{"alpha", "beta"} {
		m.kill(m.session(handle).RecordedPID, syscall.SIGKILL)
		m.waitState(handle, "crashed")
	}
	m.writeRecord("gamma", "{")
	r := m.nbs("resume", "--down")
	if r.code != 7 || inAnyOrder(r.stdout) != "alpha beta" || !strings.Contains(r.stderr, "gamma") {
		t.Error(r)
	}
	m.shell("rm .nbs/sessions/gamma.json")
	m.ok("stop", "--all")
	if out := m.ok("resume", "--down", "--json"); out != "[]\n" {
		t.Errorf("what was stopped is not down: %s", out)
	}
	if out := m.ok("resume", "--all"); inAnyOrder(out) != "alpha beta ended" {
		t.Errorf("all: %q", out)
	}
}
