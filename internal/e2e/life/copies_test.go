package life

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// A record that was copied names the processes of the original, identity and all.

func TestCopiedRecordEndsNobody(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "bob")
	bob := m.Session("bob")
	for _, args := range [][]string{{"stop", "eve"}, {"dismiss", "eve"}, {"resume", "eve", "--force"}} {
		m.WriteRecord("eve", strings.Replace(m.RecordText("bob"), `"handle": "bob"`, `"handle": "eve"`, 1))
		if args[0] == "resume" {
			m.Refused(8, "not allowed", args...)
			m.Allow("eve")
		}
		m.Refused(5, "it does not have the mark of the start", args...)
	}
	m.MustBeLeftAlone("bob", bob)
}

// A copy that was made while the agent was on its way names no process, but knows the start.
func TestCopiedProjectEndsNobody(t *testing.T) {
	t.Parallel()
	for words, change := range map[string]func(fields map[string]any){
		"it does not have the mark of the start":                  func(map[string]any) {},
		"belongs to another agent or project with the same start": neverArrived,
	} {
		t.Run(words, func(t *testing.T) {
			m := standIn(t)
			m.OK("spawn", "bob")
			bob, text := m.Session("bob"), m.RecordText("bob")
			m.SetRecord("bob", change)
			other := m.copiedProject()
			m.WriteRecord("bob", text)
			for _, args := range [][]string{{"stop", "bob"}, {"dismiss", "bob"}, {"resume", "bob", "--force"}} {
				m.Refused(5, words, append(args, "--root", other)...)
			}
			m.MustBeLeftAlone("bob", bob)
		})
	}
}

// A copy that was made before the session is there ends nothing, and keeps nothing from coming up.
func TestProjectCopiedBeforeTheSessionEndsNobody(t *testing.T) {
	m := standIn(t)
	hold := m.fifo()
	m.Env = append(m.Env, m.BeforeTmux(`case "$*" in *new-session*) read x <`+hold+`;; esac`))
	spawn := m.Begin("spawn", "bob")
	m.WaitFor("its client asks for the session", func() (bool, string) {
		all := m.Processes()
		asks := func(p e2e.WorldProcess) bool { return p.Name == "tmux" && slices.Contains(p.Args, "new-session") }
		return slices.ContainsFunc(all, asks), fmt.Sprint(all)
	})
	other := m.copiedProject()
	for _, verb := range []string{"stop", "dismiss"} {
		m.OK(verb, "bob", "--root", other)
	}
	m.Must(os.WriteFile(hold, []byte("\n"), 0o600))
	if r := spawn.End(); r.Code != 0 || !m.Session("bob").Running {
		t.Errorf("%s\n%+v", r, m.Session("bob"))
	}
}

// A launcher has no other mark of its agent than its command line.
func TestCopiedRecordDoesNotEndTheLauncherOfTheOriginal(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "carol")
	m.OK("stop", "carol")
	m.SetRecord("carol", neverArrived)
	invocation := e2e.Process(m.Record("carol"))["invocation"].(string)
	launcher := exec.Command("bash", "-c", "cat; :", "nbs-worker", "run", "bob")
	launcher.Dir, launcher.Env = m.World.Project, []string{"PATH=" + m.Variable("PATH"), "NBS_LAUNCH=" + invocation, "NBS_INVOCATION_ID=" + invocation}
	m.startHeld(launcher)
	m.Refused(5, "belongs to another agent or project with the same start", "stop", "carol")
	m.MustLive(launcher.Process.Pid)
}

// Somebody else's command line may hold any words.
func TestProcessThatOnlySoundsLikeALauncher(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	docker := exec.Command("bash", "-c", "cat; :", "docker", "run", "alpha")
	m.startHeld(docker)
	pid := docker.Process.Pid
	m.SetRecord("alpha", func(fields map[string]any) {
		e2e.Process(fields)["launcher"] = map[string]any{"pid": pid, "start_ticks": m.StartTicks(pid)}
		delete(fields, "exits")
	})
	m.Refused(5, "it does not have the mark of the start", "stop", "alpha")
	m.MustLive(pid)
}

// copiedProject is another project with a copy of all that this one has.
func (m *team) copiedProject() string {
	m.Helper()
	other := m.OtherProject()
	m.MustRun(exec.Command("cp", "-a", m.InNbs(), other))
	return other
}

// startHeld starts a program that ends with its input, at the end of the test.
func (m *team) startHeld(cmd *exec.Cmd) {
	m.Helper()
	in, err := cmd.StdinPipe()
	m.Must(err)
	m.Must(cmd.Start())
	m.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
}
