package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// standardRounds is how many times twenty turns are run; NBS_ROUNDS says otherwise.
const standardRounds = 3

// However many turns a server runs: it has as many descriptors as after the first ones, no more claudes than it keeps,
// and when it ends nothing of them is left.
func TestAServerLeaksNothing(t *testing.T) {
	m := standIn(t)
	server := m.begin("serve", "--warm", "2")
	round := func() (files int) {
		m.Helper()
		for turn := range 4 {
			for k := range 5 {
				m.mustPrint(fmt.Sprintf("You said: %d\n", turn), "ask", key(k), strconv.Itoa(turn))
			}
		}
		m.waitFor("what is too many to have left", func() (bool, string) {
			open, err := os.ReadDir(procFile(server.Process.Pid, "fd"))
			m.must(err)
			files = len(open)
			return m.claudes() == 2, fmt.Sprint(m.processes())
		})
		return files
	}
	before := round()
	for range number(t, "NBS_ROUNDS", standardRounds) {
		round()
	}
	after := round()
	m.check(after <= before+4, "%d descriptors, and %d before", after, before) // a connection of an ask may be about to close
	m.must(server.Process.Signal(syscall.SIGINT))
	server.end()
	rig.Equal(m, m.claudes(), 0, "claudes behind the server")
	m.noTurnFiles()
	left, err := os.ReadDir(m.inNbs("conversations", "pending"))
	m.check(err == nil && len(left) == 0, "%v, %v", left, err)
	m.check(len(m.sockets()) == 0 && !strings.Contains(m.ok("conversation", "queue"), "key"), "%v", m.sockets())
}

// sockets are those of servers.
func (m *team) sockets() []string {
	m.Helper()
	there, err := filepath.Glob(filepath.Join(m.world.RunDir, "nbs-worker", "serve", "*.sock"))
	m.must(err)
	return there
}

// claudes is how many there are without a terminal.
func (m *team) claudes() (n int) {
	for _, p := range m.processes() {
		if p.answersTurns() {
			n++
		}
	}
	return n
}
