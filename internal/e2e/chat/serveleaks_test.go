package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// However many turns a server runs: it has as many descriptors as after the first ones, no more claudes than it keeps,
// and when it ends nothing of them is left.
func TestAServerLeaksNothing(t *testing.T) {
	m := standIn(t)
	server := m.Begin("serve", "--warm", "2")
	round := func() (files int) {
		m.Helper()
		for turn := range 2 {
			for k := range 5 {
				m.MustPrint(fmt.Sprintf("You said: %d\n", turn), "ask", e2e.Key(k), strconv.Itoa(turn))
			}
		}
		m.WaitFor("what is too many to have left", func() (bool, string) {
			open, err := os.ReadDir(e2e.ProcFile(server.Process.Pid, "fd"))
			m.Must(err)
			files = len(open)
			return m.claudes() == 2, fmt.Sprint(m.Processes())
		})
		return files
	}
	before := round()
	round()
	after := round()
	m.Check(after <= before+4, "%d descriptors, and %d before", after, before) // a connection of an ask may be about to close
	m.Must(server.Process.Signal(syscall.SIGINT))
	server.End()
	rig.Equal(m, m.claudes(), 0, "claudes behind the server")
	m.NoTurnFiles()
	left, err := os.ReadDir(m.InNbs("conversations", "pending"))
	m.Check(err == nil && len(left) == 0, "%v, %v", left, err)
	m.Check(len(m.sockets()) == 0 && !strings.Contains(m.OK("conversation", "queue"), "key"), "%v", m.sockets())
}

// sockets are those of servers.
func (m *team) sockets() []string {
	m.Helper()
	there, err := filepath.Glob(filepath.Join(m.World.RunDir, "nbs-worker", "serve", "*.sock"))
	m.Must(err)
	return there
}

// claudes is how many there are without a terminal.
func (m *team) claudes() (n int) {
	for _, p := range m.Processes() {
		if p.AnswersTurns() {
			n++
		}
	}
	return n
}
