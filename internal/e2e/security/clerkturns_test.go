package security

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// served runs a server of the project until it is stopped, or the test ends.
func (m *team) served() (stop func()) {
	m.Helper()
	server := m.Begin("serve")
	stop = sync.OnceFunc(func() {
		_ = server.Process.Signal(syscall.SIGINT)
		server.End()
	})
	m.Cleanup(stop)
	m.WaitFor("the server runs", func() (bool, string) {
		sockets, err := filepath.Glob(filepath.Join(m.World.RunDir, "nbs-worker", "serve", "*.sock"))
		return err == nil && len(sockets) == 1, ""
	})
	return stop
}

// A turn that the server takes for an agent has that agent's name, powers, distance and variables, and not the server's.
func TestSecurityServedTurnIsItsAgents(t *testing.T) {
	m := standIn(t)
	m.Env = append(m.Env, "PATH="+filepath.Dir(m.Worker)+":"+filepath.Dir(m.Variable("NBS_CLAUDE"))+":"+os.Getenv("PATH"))
	m.OK("spawn", "peer", "--permission-mode", "default", "--", "--allowedTools", "Bash", "--disallowedTools", "WebFetch")
	m.clerk()
	m.Write(m.InState("limits.json"), `{"agents": 9, "depth": 1}`)
	m.AsAgent("clerk", "nbs-worker spawn beta --model sonnet")
	m.Env = append(m.Env, "SECRET=SWORDFISH")
	m.served()
	out := filepath.Join(m.World.Root, "out")
	m.AsAgent("beta", `nbs-worker ask own '[[tool Bash {"command":"{ echo $SECRET; cat -v /proc/$PPID/cmdline; nbs-worker spawn deep; nbs-worker send peer HELLO; nbs-worker ask inner hi --json; } >`+out+` 2>&1"}]]'`)
	text := e2e.Read(t, out)
	m.MustSay(text, "agent beta called this, and the new agent would be 2 agents away", `"key":"agent:beta:inner"`, "--permission-mode^@default^@", "--allowedTools^@Bash^@--disallowedTools^@WebFetch^@")
	m.Check(!strings.Contains(text, "SWORDFISH"), "it has the server's variables: %s", text)
	m.MustSay(m.OK("logs", "peer"), "This message is from agent beta")
}

// The turns of agents take no place from a person's.
func TestSecurityAgentsJamNobody(t *testing.T) {
	m := standIn(t)
	m.clerk()
	m.AsAgent("clerk", `for i in 1 2 3 4 5 6; do nbs-worker ask k$i --timeout 1h '[[tool Bash {"command":"sleep 600"}]]' >/dev/null 2>&1 </dev/null & done; `+
		`until nbs-worker conversation queue | grep -q running; do :; done`)
	m.MustSay(m.OK("conversation", "queue"), "\trunning\t")
	m.Ask(0, "mine", "Hello.")
}

// A turn of an agent that was dismissed, or has less by now, is not taken.
func TestSecurityTurnOfADismissedAgent(t *testing.T) {
	m := standIn(t)
	file := filepath.Join(m.World.Project, "LATE")
	for _, handle := range []string{"gone", "less"} {
		m.OK("spawn", handle, "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
		m.AsAgent(handle, `nbs-worker ask first '[[delay 10m]] Hello.' >/dev/null 2>&1 </dev/null & `+
			`until nbs-worker conversation queue | grep -q running; do :; done; timeout -s INT 1 nbs-worker ask first '[[tool Bash {"command":"touch `+file+`"}]]'`)
	}
	m.OK("dismiss", "gone", "-y")
	m.OK("stop", "less")
	m.OK("set", "less", "permission-mode=default")
	m.served()
	m.WaitFor("nothing waits", func() (bool, string) { out := m.OK("conversation", "queue"); return out == "", out })
	m.Check(!e2e.Exists(file), "a turn was taken with what its agent had")
}
