package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
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
		if args[0] == "resume" {
			m.refused(8, "not allowed", args...)
			m.allow("eve")
		}
		m.refused(5, "does not bear the mark of its start", args...)
	}
	m.mustBeLeftAlone("bob", bob)
}

// A copy that was made while the agent was on its way names no process, but knows the start.
func TestCopiedProjectEndsNobody(t *testing.T) {
	t.Parallel()
	for words, change := range map[string]func(fields map[string]any){
		"does not bear the mark of its start":                   func(map[string]any) {},
		"is of the same start, and of another agent or project": neverArrived,
	} {
		t.Run(words, func(t *testing.T) {
			m := standIn(t)
			m.ok("spawn", "bob")
			bob, text := m.session("bob"), m.recordText("bob")
			m.setRecord("bob", change)
			other := m.copiedProject()
			m.writeRecord("bob", text)
			for _, args := range [][]string{{"stop", "bob"}, {"dismiss", "bob"}, {"resume", "bob", "--force"}} {
				m.refused(5, words, append(args, "--root", other)...)
			}
			m.mustBeLeftAlone("bob", bob)
		})
	}
}

func TestProjectCopiedBeforeTheSessionEndsNobody(t *testing.T) {
	m := standIn(t)
	hold := m.fifo()
	m.env = append(m.env, m.beforeTmux(`case "$*" in *new-session*) read x <`+hold+`;; esac`))
	spawn := m.begin("spawn", "bob")
	m.waitFor("its client asks for the session", func() (bool, string) {
		all := m.processes()
		asks := func(p worldProcess) bool { return p.name == "tmux" && slices.Contains(p.args, "new-session") }
		return slices.ContainsFunc(all, asks), fmt.Sprint(all)
	})
	other := m.copiedProject()
	for _, verb := range []string{"stop", "dismiss"} {
		m.refused(5, "is of the same start, and of another agent or project", verb, "bob", "--root", other)
	}
	m.must(os.WriteFile(hold, []byte("\n"), 0o600))
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
	m.startHeld(launcher)
	m.refused(5, "is of the same start, and of another agent or project", "stop", "carol")
	m.mustLive(launcher.Process.Pid)
}

// Somebody else's command line may hold any words.
func TestProcessThatOnlySoundsLikeALauncher(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	docker := exec.Command("bash", "-c", "cat; :", "docker", "run", "alpha")
	m.startHeld(docker)
	pid := docker.Process.Pid
	m.setRecord("alpha", func(fields map[string]any) {
		process(fields)["launcher"] = map[string]any{"pid": pid, "start_ticks": m.startTicks(pid)}
		delete(fields, "exits")
	})
	m.refused(5, "does not bear the mark of its start", "stop", "alpha")
	m.mustLive(pid)
}

// copiedProject is another project with a copy of all that this one has.
func (m *team) copiedProject() string {
	m.Helper()
	other := m.otherProject()
	m.run(exec.Command("cp", "-a", m.inNbs(), other))
	return other
}

// startHeld starts a program that ends with its input, at the end of the test.
func (m *team) startHeld(cmd *exec.Cmd) {
	m.Helper()
	in, err := cmd.StdinPipe()
	m.must(err)
	m.must(cmd.Start())
	m.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
}
