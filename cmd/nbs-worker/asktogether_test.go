package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// Three texts that are said at once are answered one after the other, in the order in which they were accepted.
func TestThreeAtOnce(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.says("review", "Remember 42.", "OK, I will remember 42.")
		var all sync.WaitGroup
		var inOrder [3]string
		for i := range 3 {
			all.Go(func() {
				text := fmt.Sprintf("[[delay 300ms]] question <<%d>>", i)
				got := m.says("review", text, "You said: "+text)
				m.check(got.Continuity == "resumed", "%+v", got)
				inOrder[got.Seq-2] = text
			})
		}
		all.Wait()
		rig.Same(m, "what was said", inOrder[:], m.alternates("review")[1:])
	})
}

// alternates checks that in a conversation each text is followed by its answer, and returns the texts in their order.
func (m *team) alternates(key string) (texts []string) {
	m.Helper()
	open := ""
	for line := range strings.Lines(m.ok("conversation", "history", key, "--json")) {
		var said struct{ Who, Text string }
		m.must(json.Unmarshal([]byte(line), &said))
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

// standardAskers is how many processes ask at once in one conversation; NBS_ASKERS says otherwise.
const standardAskers = 5

// TestManyAskers has processes ask in one conversation at once, twenty texts each: no turn begins before the one before
// it is over, and each asker has the answers to its own texts.
func TestManyAskers(t *testing.T) {
	m := standIn(t)
	askers := number(t, "NBS_ASKERS", standardAskers)
	const each = 20
	var all sync.WaitGroup
	begun := time.Now()
	for asker := range askers {
		all.Go(func() {
			for i := range each {
				m.mustPrint(fmt.Sprintf("You said: %d:%d\n", asker, i), "ask", "review", fmt.Sprintf("%d:%d", asker, i))
			}
		})
	}
	all.Wait()
	m.Logf("%d turns in %s", askers*each, time.Since(begun))
	rig.Equal(m, len(m.alternates("review")), askers*each, "texts that were answered one after the other")
	left, err := os.ReadDir(m.turnFolder())
	m.check(err == nil && len(left) == 0, "%v, %v", left, err)
}
