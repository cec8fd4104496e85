package chat

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// alternates checks that in a conversation each text is followed by its answer, and returns the texts in their order.
func (m *team) alternates(key string) (texts []string) {
	m.Helper()
	open := ""
	for line := range strings.Lines(m.OK("conversation", "history", key, "--json")) {
		var said struct{ Who, Text string }
		m.Must(json.Unmarshal([]byte(line), &said))
		if (said.Who == "you") != (open == "") || said.Who == "agent" && said.Text != "You said: "+open && !strings.HasPrefix(said.Text, "OK, I will remember") {
			m.Fatalf("%s says %q where %q is open", said.Who, said.Text, open)
		}
		if open = ""; said.Who == "you" {
			open = said.Text
			texts = append(texts, open)
		}
	}
	return texts
}

// Processes ask in one conversation at once: no turn begins before the one before it is over, they are answered in the order in
// which they were accepted, and each asker has the answers to its own texts.
func TestManyAskers(t *testing.T) {
	m := standIn(t)
	const askers, each = 5, 4
	var all sync.WaitGroup
	var inOrder [askers * each]string
	for asker := range askers {
		all.Go(func() {
			for i := range each {
				text := fmt.Sprintf("[[delay 50ms]] %d:%d", asker, i)
				inOrder[m.Says("review", text, "You said: "+text).Seq-1] = text
			}
		})
	}
	all.Wait()
	rig.Same(m, "what was said", inOrder[:], m.alternates("review"))
	m.NoTurnFiles()
}

// TestManyKeysAtOnce asks in many conversations at the same moment, first each by itself and then through a server that
// keeps claudes. All are answered, and there are never more claudes than have their turn or are kept: that, and not the
// number of conversations, is what they need of the memory.
func TestManyKeysAtOnce(t *testing.T) {
	m := standIn(t)
	const keys = 8
	turns := min(4, runtime.NumCPU())
	everybodyAsks := func(what string, most int) {
		t.Helper()
		ended := make(chan struct{})
		var seen sync.WaitGroup
		highest, memory := 0, uint64(0)
		seen.Go(func() {
			often := time.NewTicker(50 * time.Millisecond)
			defer often.Stop()
			for {
				select {
				case <-ended:
					return
				case <-often.C:
				}
				there := m.answering()
				resident := uint64(0)
				for _, pid := range there {
					resident += local.New().UsageOf(pid).RSS
				}
				highest, memory = max(highest, len(there)), max(memory, resident)
			}
		})
		var all sync.WaitGroup
		for k := range keys {
			all.Go(func() {
				text := fmt.Sprintf("[[delay 200ms]] %d", k) // in which it is seen
				m.MustPrint("You said: "+text+"\n", "ask", e2e.Key(k), text)
			})
		}
		all.Wait()
		close(ended)
		seen.Wait()
		m.Check(highest > 0 && highest <= most, "%s: %d claudes at once", what, highest)
		m.Logf("%d conversations %s: %d claudes at once at most, with %d MB", keys, what, highest, memory>>20)
	}
	everybodyAsks("by themselves", turns)
	server := m.Begin("serve", "--warm", "2")
	m.WaitFor("the server runs", func() (bool, string) { return len(m.sockets()) == 1, "" })
	everybodyAsks("through a server", turns+2+1) // one may be leaving
	m.Must(server.Process.Signal(syscall.SIGINT))
	server.End()
	rig.Equal(m, m.claudes(), 0, "claudes behind the server")
}

// answering are the claudes without a terminal at one moment: not one that has ended while another, which has its turn
// now, was found, nor a claude's child that is not a program of its own yet.
func (m *team) answering() []int {
	var found []int
	for _, p := range m.Processes() {
		if p.AnswersTurns() {
			found = append(found, p.PID)
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(pid int) bool { return e2e.Dead(pid) || slices.Contains(found, e2e.Parent(pid)) })
}
