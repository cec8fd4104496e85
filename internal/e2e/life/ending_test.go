package life

import (
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// stop and dismiss: all that is ours goes, and nothing else.

func TestStopEndsWhatToolsLeftBehind(t *testing.T) {
	m := standIn(t, "spawn-child")
	m.OK("spawn", "alpha")
	orphans := m.Carrying("alpha")
	if len(orphans) < 2 {
		t.Fatalf("no child of the agent: %v", orphans)
	}
	// Killed like this, claude leaves its tool's shell to pid 1.
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	m.OK("stop", "alpha")
	for _, pid := range orphans {
		m.Check(e2e.Dead(pid), "process %d of the agent lives", pid)
	}
}

// An agent that stops itself would end the command half done.
func TestAgentDoesNotStopItself(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", `[[tool Bash {"command":"nbs-worker stop alpha; echo code $?"}]]`)
	m.MustAnswer("alpha", "Tool said:")
	s := m.Session("alpha")
	m.Check(s.Running && s.Desired == "running", "%+v", s)
	screen := m.Screen("alpha")
	m.Check(strings.Contains(screen, "code 5"), "%s", screen)
}

// An agent may start colleagues: they outlive it, and so does the tmux server.
func TestAgentSpawnsAColleague(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "boss", "--model", "sonnet", "--prompt", `[[tool Bash {"command":"nbs-worker spawn colleague --model sonnet --prompt 'Remember 42.'"}]]`)
	m.MustAnswer("boss", "Tool said: colleague")
	m.MustAnswer("colleague", "OK, I will remember 42.")
	before := m.Session("colleague")
	m.OK("dismiss", "boss")
	after := m.Session("colleague")
	if !after.Running || after.RecordedPID != before.RecordedPID {
		t.Fatalf("the colleague went with its boss: %+v", after)
	}
	m.Kill(after.RecordedPID, syscall.SIGKILL)
	m.WaitState("colleague", "crashed")
	m.MustRemember("colleague", before)
}

// Who ends a team for the night is told how it comes back.
func TestStopOfAllSaysHowTheyComeBack(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("spawn", "beta")
	r := m.NBS("stop", "--all")
	m.Check(r.Code == 0 && r.Stderr == "hint: to bring them back: nbs-worker resume alpha beta\n", "%s", r)
}

// A tmux server that an agent's shell has started hands the agent's mark on to all
// that is started in it.
func TestServerStartedByAnAgentOutlivesIt(t *testing.T) {
	m := standIn(t)
	m.bossWithServer()
	r := m.NBSWith([]string{"NBS_INVOCATION_ID="}, "spawn", "colleague") // as a person does in a pane of that server
	m.Check(r.Code == 0, "%s", r)
	before, server := m.Session("colleague"), m.ServerPID()
	m.OK("dismiss", "boss")
	after := m.Session("colleague")
	m.Check(after.Running && after.RecordedPID == before.RecordedPID && !e2e.Dead(server), "before %+v\nafter %+v", before, after)
}

// bossWithServer is an agent whose shell has started the user's tmux server, with a
// session of somebody in it; the agent itself lives in another server.
func (m *team) bossWithServer() {
	m.Helper()
	m.OK("--tmux-socket", "first", "spawn", "boss")
	boss := m.Environ(m.Session("boss").RecordedPID)
	m.Env = append(m.Env, "NBS_INVOCATION_ID="+boss["NBS_INVOCATION_ID"])
	m.Tmux("new-session", "-d", "-s", "somebody", "cat; cat")
}
