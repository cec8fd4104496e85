package campaign

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// standardRequests is how many requests the campaign has answered; NBS_REQUESTS says otherwise.
const standardRequests = 10

// asked is a request as the command line shows it.
type asked struct {
	ID, Handle, Tool, Title string
	Questions               []any
}

// TestRequestsAreAnswered has an agent ask for commands, edits and questions, and answers by command, by two at once,
// after the terminal did, and after the hook was killed. What the agent then has done is the referee: what was denied
// did not happen, what was approved did, and each receipt is true.
func TestRequestsAreAnswered(t *testing.T) {
	n := e2e.Number(t, "NBS_REQUESTS", standardRequests)
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	ways := []func(asked) bool{m.approved, m.denied, m.fought, m.answeredInTheTerminal, m.hookKilled}
	for i := range n {
		way := i % len(ways)
		if i >= len(ways) {
			way = rand.IntN(len(ways))
		}
		made := filepath.Join(m.World.Project, fmt.Sprintf("made%d", i))
		line := fmt.Sprintf(`[[tool Bash {"command":"touch made%d"}]]`, i)
		if i%2 == 1 {
			line = fmt.Sprintf(`[[tool Write {"file_path":%s,"content":"x"}]]`, e2e.Encoded(m.Team, made))
		}
		m.TypeLine(m.WaitState("alpha", "idle"), line)
		r := m.asks("alpha")
		m.Check(strings.Contains(r.Title, fmt.Sprintf("made%d", i)), "request %d is %+v", i, r)
		allowed := ways[way](r)
		m.WaitState("alpha", "idle")
		m.Check(e2e.Exists(made) == allowed, "request %d, way %d: allowed %t, made %t", i, way, allowed, e2e.Exists(made))
		m.MustPrint("[]\n", "requests", "--json")
	}
}

// asks waits until an agent asks, at a dialog.
func (m *team) asks(handle string) (r asked) {
	m.Helper()
	m.WaitFor(handle+" asks", func() (bool, string) {
		var open []asked
		m.Decode(&open, "requests", handle, "--json")
		if len(open) == 1 {
			r = open[0]
		}
		return len(open) == 1, m.Screen(handle)
	})
	m.WaitState(handle, "waiting")
	return r
}

func (m *team) approved(r asked) bool {
	m.MustPrint(r.Handle+"\n", "approve", r.Handle, r.ID)
	return true
}

func (m *team) denied(r asked) bool {
	m.MustPrint(r.Handle+"\n", "deny", r.Handle, r.ID, "--message", "Not now.")
	return false
}

// fought has two answer at once, one for and one against.
func (m *team) fought(r asked) bool {
	var codes [2]int
	var both sync.WaitGroup
	for i, verb := range []string{"approve", "deny"} {
		both.Go(func() { codes[i] = m.NBS(verb, r.Handle, r.ID).Code })
	}
	both.Wait()
	m.Check(codes == [2]int{0, 5} || codes == [2]int{5, 0}, "approve and deny at once end with %v", codes)
	return codes[0] == 0
}

func (m *team) answeredInTheTerminal(r asked) bool {
	m.Tmux("send-keys", "-t", "="+m.Session(r.Handle).TmuxSession+":", "1")
	m.WaitState(r.Handle, "idle")
	m.Refused(5, "the request is over: "+r.ID, "deny", r.Handle, r.ID)
	return true
}

func (m *team) hookKilled(r asked) bool {
	hooks := slices.DeleteFunc(m.Carrying(r.Handle), func(pid int) bool {
		args := m.Cmdline(pid)
		return len(args) < 2 || args[1] != "hook"
	})
	m.Check(len(hooks) == 1, "%d hooks wait", len(hooks))
	for _, pid := range hooks {
		m.Kill(pid, syscall.SIGKILL)
		m.WaitDead(pid)
	}
	m.Refused(5, "the request is over: "+r.ID, "approve", r.Handle, r.ID)
	m.MustBe(r.Handle, "waiting")
	m.Tmux("send-keys", "-t", "="+m.Session(r.Handle).TmuxSession+":", "1")
	return true
}
