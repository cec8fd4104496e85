package hosts

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// The standard campaign is always the same one. NBS_HOST_CUTS and NBS_HOST_CUTS_SEED choose another.
const (
	standardCuts = 30
	standardSeed = 20261127
)

// act is a command line of a person's at the host, whose connection is cut.
type act struct {
	name string
	args []string
}

// cuts is a campaign: the network is cut in the middle of each verb, and afterwards everything was done once.
type cuts struct {
	*fleet

	host      *host
	random    *rand.Rand
	handshake int            // bytes of a connection that does nothing
	traffic   map[string]int // bytes of the whole of an act, when it was last done
	made      int
	tally     map[string]int // how often each act was cut
	sent      []string       // texts for alice
	asked     []string
}

func TestCutInTheMiddleOfEachVerb(t *testing.T) {
	f := standIn(t, "build1")
	seed := e2e.Number(t, "NBS_HOST_CUTS_SEED", standardSeed)
	c := &cuts{fleet: f, host: f.hosts["build1"], random: rand.New(rand.NewPCG(uint64(seed), 0)), traffic: map[string]int{}, tally: map[string]int{}}
	before := c.host.Remembers("alice")
	bob := c.host.Remembers("bob")
	passed := c.host.machine.Network.Passed()
	f.ssh("build1", "true")
	c.handshake = c.host.machine.Network.Passed() - passed
	for lap := 0; c.made < e2e.Number(t, "NBS_HOST_CUTS", standardCuts); lap++ {
		for _, a := range c.lap(lap) {
			c.cut(a)
		}
		c.doneOnce()
	}
	for handle, was := range map[string]e2e.Session{"alice": before, "bob": bob} {
		is := c.host.WaitState(handle, "idle")
		c.Check(is.SessionID == was.SessionID, "%s is in another conversation: before %+v\nafter %+v", handle, was, is)
		if got := c.host.Reply(handle, "What number?"); got != "42" {
			t.Errorf("%s says %q", handle, got)
		}
	}
	t.Logf("seed %d, %d cuts: %v", seed, c.made, c.tally)
}

// lap is each act once. Some need another before them.
func (c *cuts) lap(lap int) (all []act) {
	text, question := fmt.Sprintf("Message %d of the campaign.", lap), fmt.Sprintf("Question %d of the campaign.", lap)
	c.sent, c.asked = append(c.sent, text), append(c.asked, question)
	orders := [][]act{
		{{"list", []string{"list", "--host", "build1"}}},
		{{"session", []string{"session", "alice@build1"}}},
		{{"triage", []string{"triage", "alice@build1"}}},
		{{"logs", []string{"logs", "alice@build1"}}},
		{{"requests", []string{"requests", "--host", "build1"}}},
		{{"send", []string{"send", "alice@build1", text, "--timeout", e2e.Patience()}}},
		{{"ask", []string{"ask", "campaign@build1", question}}},
		{{"set", []string{"set", "alice@build1", "restart=" + []string{"on-failure", "no"}[lap%2]}}},
		{{"stop", []string{"stop", "bob@build1"}}, {"resume", []string{"resume", "bob@build1"}}, {"recover", []string{"recover", "bob@build1"}}},
		{
			{"spawn", []string{"spawn", "carol@build1"}}, {"rename", []string{"rename", "carol@build1", "dora"}},
			{"dismiss", []string{"dismiss", "dora@build1", "--yes"}},
		},
	}
	c.random.Shuffle(len(orders), func(i, j int) { orders[i], orders[j] = orders[j], orders[i] })
	return slices.Concat(orders...)
}

// cut does something while the network is cut once or twice, and then, if that has failed, what it advises.
func (c *cuts) cut(a act) {
	c.Helper()
	network := c.host.machine.Network
	counts := c.moments(a)
	passed := network.Passed()
	network.CutAfterBytes(counts...)
	r := c.NBS(a.args...)
	left := network.CutAfterBytes()
	c.made += len(counts) - left
	c.tally[a.name] += len(counts) - left
	if left == len(counts) {
		c.traffic[a.name] = network.Passed() - passed
	}
	c.Check(!saysDead(r.Stdout), "cut after %v bytes, %s takes an agent for dead: %s", counts, a.name, r)
	if r.Code != 0 {
		c.Check(left < len(counts) && strings.Contains(r.Stderr, "unreachable"), "cut after %v bytes, %s: %s", counts, a.name, r)
		again := a.args
		if found := regexp.MustCompile(`nbs-worker (host result build1 \S+)`).FindStringSubmatch(r.Stderr); found != nil {
			again = strings.Fields(found[1])
		}
		r = c.NBS(again...)
		c.Check(r.Code == 0, "cut after %v bytes, %s, and then %q: %s", counts, a.name, again, r)
	}
	for id, pids := range c.host.claudes() {
		c.Check(len(pids) == 1, "cut after %v bytes, %s: the conversation %s has the claudes %v", counts, a.name, id, pids)
	}
}

// moments are where the network is cut: mostly behind the greetings of ssh, and at times again after that.
func (c *cuts) moments(a act) []int {
	whole := max(c.traffic[a.name], c.handshake*5/4)
	at := c.random.IntN(whole)
	if c.random.IntN(8) > 0 {
		at = c.handshake*9/10 + c.random.IntN(whole-c.handshake*9/10)
	}
	if c.random.IntN(4) == 0 {
		return []int{at, c.handshake*9/10 + c.random.IntN(c.handshake/5)}
	}
	return []int{at}
}

// doneOnce checks that what was sent and asked so far has arrived, and no more than once.
func (c *cuts) doneOnce() {
	c.Helper()
	logs, history := c.host.OK("logs", "alice", "--all"), c.host.OK("conversation", "history", "campaign", "--all")
	for _, text := range c.sent {
		c.Check(strings.Count(logs, "You said: "+text) == 1, "%q was answered %d times", text, strings.Count(logs, "You said: "+text))
	}
	for _, text := range c.asked {
		c.Check(strings.Count(history, "You said: "+text) == 1, "%q was answered %d times", text, strings.Count(history, "You said: "+text))
	}
}

// saysDead reports whether a command takes an agent for dead or lost. An id may contain the letters.
func saysDead(text string) bool {
	return regexp.MustCompile(`(^|[^-\w])(dead|lost)([^-\w]|$)`).MatchString(text)
}

// claudes are the processes of each conversation at the host.
func (h *host) claudes() map[string][]int {
	all := map[string][]int{}
	for _, p := range h.Processes() {
		if p.IsClaude() && len(p.Args) > 2 {
			all[p.Args[2]] = append(all[p.Args[2]], p.PID)
		}
	}
	return all
}
