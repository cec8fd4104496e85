package campaign

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// standardJumps is how many kills the standard campaign has; NBS_PARACHUTE says otherwise, and NBS_PARACHUTE_SEED
// which ones.
const standardJumps = 30

// TestParachute kills who asks, claude and the server at all steps of a turn, and between them, under a steady stream
// of numbered messages to up to ten conversations. In the end each message that was accepted was answered once, in the order
// in which they were accepted, the transcripts have each once, and every conversation remembers what it was told first.
func TestParachute(t *testing.T) {
	t.Parallel()
	kills, seed := e2e.Number(t, "NBS_PARACHUTE", standardJumps), e2e.Number(t, "NBS_PARACHUTE_SEED", standardSeed)
	for i, w := range []struct {
		name   string
		claude func(*testing.T) string
		serves bool
		share  int // of the kills, in tenths
	}{
		{"stand-in", func(t *testing.T) string { return rig.StandIn(t) }, false, 3},
		{"stand-in, served", func(t *testing.T) string { return rig.StandIn(t) }, true, 3},
		{rig.Newest, func(t *testing.T) string { return rig.ClaudeBinary(t, rig.Newest) }, true, 2},
		{rig.Oldest, func(t *testing.T) string { return rig.ClaudeBinary(t, rig.Oldest) }, false, 2},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			p := &parachute{
				team: newTeam(t, w.claude(t)), serves: w.serves, usual: 300 * time.Millisecond,
				left: kills * w.share / 10, most: 20 * kills, rng: rand.New(rand.NewPCG(uint64(seed), uint64(i))), tally: map[string]int{},
			}
			if !strings.HasPrefix(w.name, "stand-in") {
				p.usual = 2 * time.Second
			}
			p.Chats()
			p.jump()
			t.Logf("%d turns, killed: %v", p.turns, p.tally)
		})
	}
}

// parachute is one world of the campaign.
type parachute struct {
	*team
	serves bool
	usual  time.Duration // of a turn
	server atomic.Pointer[os.Process]

	mu          sync.Mutex
	rng         *rand.Rand
	left        int // kills that are still to be made
	turns, most int
	tally       map[string]int // kills by victim
}

// spoken is a text that was said, maybe by somebody who was killed before it was accepted.
type spoken struct{ id, text string }

// asked is the command line that says it. With a context, which every other key has, the mark of the turn is in the transcript too.
func (m spoken) asked(key string) []string {
	args := []string{"ask", key, m.text, "--id", m.id, "--json"}
	if n := key[len(key)-1]; n%2 == 0 {
		args = append(args, "--context-cmd", "/bin/pwd")
	}
	return args
}

// mostKeys is how many conversations there are, unless there are fewer kills.
const mostKeys = 10

func (p *parachute) jump() {
	over := make(chan struct{})
	var serving, talking sync.WaitGroup
	if p.serves {
		serving.Go(func() { p.serve(over) })
	}
	said := make([][]spoken, min(mostKeys, p.left))
	for k := range said {
		talking.Go(func() { said[k] = p.talk(k) })
	}
	talking.Wait()
	close(over)
	if server := p.server.Load(); server != nil {
		_ = server.Signal(syscall.SIGINT) // it may have been killed
	}
	serving.Wait()
	for k := range said {
		talking.Go(func() { p.judgeKey(e2e.Key(k), said[k]) })
	}
	talking.Wait()
	p.nothingIsLeft()
}

// serve keeps a server, as a service manager does.
func (p *parachute) serve(over <-chan struct{}) {
	for {
		server := p.Begin("serve")
		p.server.Store(server.Process)
		server.End()
		select {
		case <-over:
			return
		default:
		}
	}
}

// talk says numbered messages in one conversation until all kills are made, and has some said again that were maybe
// not accepted.
func (p *parachute) talk(k int) (said []spoken) {
	for i := 0; p.more(); i++ {
		next := spoken{id: fmt.Sprintf("%d.%d", k, i), text: numbered(k, i)}
		said = append(said, next)
		if p.say(k, next, p.deal()) < 0 && p.chance(2) {
			p.say(k, next, nil)
		}
	}
	return said
}

// numbered is the i-th message to a conversation.
func numbered(k, i int) string {
	mark := fmt.Sprintf("<<%d.%d>>", k, i)
	if i == 0 {
		return fmt.Sprintf("Remember %d.", 4200+k)
	}
	return []string{"plain " + mark, "[[delay 150ms]] later " + mark, "[[slow 20ms]] in parts " + mark, mark + ` [[tool Bash {"command":"true"}]]`}[i%4]
}

// say has a message said, and who does it killed, and is the person who decides on what nobody else can. It returns
// the exit code; -1: killed.
func (p *parachute) say(k int, m spoken, j *jump) int {
	var strike *strike
	if j != nil {
		strike = p.await(e2e.Key(k), j)
	}
	ask := p.Begin(m.asked(e2e.Key(k))...)
	if strike != nil {
		strike.begin(ask)
	}
	got := ask.End()
	if strike != nil {
		strike.end()
	}
	switch {
	case got.Code == 8:
		p.decide(k)
	case got.Code > 0:
		p.Errorf("ask %s %q: %s", e2e.Key(k), m.text, got)
	}
	return got.Code
}

// decide has what waits for a person tried again.
func (p *parachute) decide(k int) {
	var open []struct{ State, Reason string }
	if err := json.Unmarshal([]byte(p.OK("conversation", "queue", e2e.Key(k), "--json")), &open); err != nil || len(open) > 0 && open[0].State == "dead" && open[0].Reason == "" {
		p.Errorf("%+v, %v", open, err)
	}
	if got := p.NBS("conversation", "retry", e2e.Key(k)); got.Code > 0 && got.Code != 8 && got.Code != 2 && got.Code != 5 { // others may be quicker
		p.Errorf("retry %s: %s", e2e.Key(k), got)
	}
}

// judgeKey says every message again, under its id: what was accepted is answered from what is stored.
func (p *parachute) judgeKey(key string, said []spoken) {
	bySeq := map[int]string{}
	for i, m := range said {
		var got e2e.Answered
		p.WaitFor(m.text+" is answered", func() (bool, string) {
			r := p.NBS(m.asked(key)...)
			if r.Code == 8 {
				p.NBS("conversation", "retry", key)
			}
			got = e2e.Answered{}
			return r.Code == 0 && json.Unmarshal([]byte(r.Stdout), &got) == nil, r.String()
		})
		want := "You said: " + m.text
		if i == 0 {
			want = "OK, I will remember " + strings.TrimPrefix(m.text, "Remember ")
		}
		byTool := strings.Contains(m.text, "[[tool") && got.Answer != nil && strings.HasPrefix(*got.Answer, "Tool said: ")
		p.Check(byTool || got.Answer != nil && *got.Answer == want, "%q: %+v", m.text, got)
		p.Check(bySeq[got.Seq] == "", "%q and %q have one number", bySeq[got.Seq], m.text)
		bySeq[got.Seq] = m.text
	}
	var inOrder, heard []string
	for seq := 1; seq <= len(said); seq++ {
		inOrder = append(inOrder, bySeq[seq])
	}
	for line := range strings.Lines(p.OK("conversation", "history", key, "--all", "--json")) {
		var m struct{ Who, Text string }
		p.Must(json.Unmarshal([]byte(line), &m))
		if m.Who == "you" && m.Text != goOn {
			heard = append(heard, m.Text)
		}
	}
	rig.Same(p, "what stands in the transcripts of "+key, inOrder, heard)
	if len(said) > 0 {
		p.Says(key, "What number?", strings.TrimSuffix(strings.TrimPrefix(said[0].text, "Remember "), "."))
	}
}

// nothingIsLeft checks that no process and no file is there any more of which somebody was killed.
func (p *parachute) nothingIsLeft() {
	p.WaitFor("every claude to have left", func() (bool, string) {
		left := slices.DeleteFunc(p.Processes(), func(w e2e.WorldProcess) bool { return !w.AnswersTurns() })
		return len(left) == 0, fmt.Sprint(left)
	})
	names, err := os.ReadDir(p.InNbs("conversations", "pending"))
	p.Check(err == nil && len(names) == 0, "%v, %v", names, err)
	if !p.serves { // what a server has kept warm is swept when it is old
		p.NoTurnFiles()
	}
}
