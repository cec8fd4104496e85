package campaign

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/e2e/told"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/sim/telegram"
)

// TestParachuteOfTheBot kills the server of a bot, claude, and both, at random steps, while people in three chats and two
// topics send texts and pictures, stop what is answered, begin new conversations, go back, press buttons and edit. Each
// kill of the server is followed by a new one. In the end each message has its answer once, in its place and in order,
// and what stands in a chat twice says so.
func TestParachuteOfTheBot(t *testing.T) {
	t.Parallel()
	kills, seed := e2e.Number(t, "NBS_PARACHUTE", standardJumps), e2e.Number(t, "NBS_PARACHUTE_SEED", standardSeed)
	for i, w := range []struct {
		name   string
		claude func(*testing.T) string
		share  int // of the kills, in tenths
	}{
		{"stand-in", func(t *testing.T) string { return rig.StandIn(t) }, 10},
		{rig.Newest, func(t *testing.T) string { return rig.ClaudeBinary(t, rig.Newest) }, 1},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			p := &botParachute{
				team: newTeam(t, w.claude(t)), left: kills * w.share / 10, usual: 400 * time.Millisecond,
				rng: rand.New(rand.NewPCG(uint64(seed), uint64(100+i))), tally: map[string]int{},
			}
			if w.name != "stand-in" {
				p.usual = 2 * time.Second
			}
			p.Chats()
			p.jump()
		})
	}
}

// botParachute is one world of the campaign.
type botParachute struct {
	*team

	bot    *telegram.Server
	usual  time.Duration // of a turn
	over   chan struct{} // closed when all kills are made
	server atomic.Pointer[e2e.Running]

	mu    sync.Mutex
	rng   *rand.Rand
	left  int // kills that are still to be made
	tally map[string]int
	said  []told.Said
	most  time.Duration // that a person has waited until all was answered
}

// forum is a group with two topics.
const forum = -1001000000001

func (p *botParachute) jump() {
	bot, err := telegram.Start(telegram.Options{})
	p.Must(err)
	p.Cleanup(func() { _ = bot.Close() })
	bot.Forum(forum, "Home")
	p.bot, p.over = bot, make(chan struct{})
	p.Must(os.WriteFile(filepath.Join(p.World.RunDir, "token"), []byte(telegram.Token+"\n"), 0o600))
	places := []told.Place{{Chat: 1}, {Chat: 2}, {Chat: 3}, {Chat: forum, Topic: bot.Topic(forum, 1, "Food")}, {Chat: forum, Topic: bot.Topic(forum, 1, "Trips")}}
	ended := make(chan struct{})
	var serving, talking sync.WaitGroup
	serving.Go(func() { p.serve(ended) })
	for i, at := range places {
		u := &botUser{given: map[string]int{}, botParachute: p, at: at, rng: rand.New(rand.NewPCG(p.rng.Uint64(), uint64(i)))}
		talking.Go(u.talk)
	}
	begun := time.Now()
	p.kill()
	close(p.over)
	talking.Wait()
	p.noted()
	took := time.Since(begun).Round(time.Second)
	close(ended)
	if server := p.server.Load(); server != nil {
		_ = server.Process.Signal(syscall.SIGINT) // it may end just now
	}
	serving.Wait()
	findings, twice := told.Judge(p.said, p.shown())
	p.Check(len(p.bot.Faults()) == 0, "%q", p.bot.Faults())
	heard := map[string]string{}
	for _, at := range places {
		p.heardOnce(at, heard)
	}
	findings = append(findings, told.Strays(p.said, p.shown(), heard)...)
	ellipses := 0 // a server that is killed before it knows the number of a message in which an answer is to grow leaves it
	for _, finding := range findings {
		if strings.HasSuffix(finding, `: told without a question: "…"`) {
			ellipses++
			continue
		}
		p.Error(finding)
	}
	p.Check(ellipses <= p.tally["serve"], "%d messages in which no answer grew", ellipses)
	p.noProcess()
	if p.Failed() {
		p.show(places)
	}
	p.Logf("%d things said, killed and tried again: %v; %d messages stand there twice and say so, and %d are only an ellipsis; it took %v, and an answer at most %v", len(p.said), p.tally, twice, ellipses, took, p.most.Round(time.Second))
}

// show logs what each place shows, for who looks for the cause of a finding.
func (p *botParachute) show(places []told.Place) {
	for _, at := range places {
		for _, m := range p.bot.Chat(at.Chat) {
			if m.Topic == at.Topic {
				p.Logf("%v %s %d bot=%v edited=%v: %.160q", at, m.At.Format("15:04:05.000"), m.Number, m.Bot, !m.Edited.IsZero(), m.Text)
			}
		}
	}
}

// counts adds to what is told of the campaign, and waited how long a person has waited.
func (p *botParachute) counts(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tally[what]++
}

func (p *botParachute) waited(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = max(p.most, d)
}

// serve keeps a server, as a service manager does.
func (p *botParachute) serve(ended <-chan struct{}) {
	args := []string{"serve", "--telegram-token-file", filepath.Join(p.World.RunDir, "token"), "--telegram-url", p.bot.URL()}
	for _, chat := range []int64{1, 2, 3, forum} {
		args = append(args, "--telegram-chat", strconv.FormatInt(chat, 10))
	}
	for {
		server := p.Begin(args...)
		p.server.Store(server)
		if got := server.End(); got.Code > 0 && got.Code != 130 {
			p.Errorf("the server: %s", got)
		}
		select {
		case <-ended:
			return
		default:
		}
	}
}

func (p *botParachute) shown() (all []telegram.Message) {
	for _, chat := range []int64{1, 2, 3, forum} {
		all = append(all, p.bot.Chat(chat)...)
	}
	return all
}

// noted waits until it is written down that all was told.
func (p *botParachute) noted() {
	p.WaitFor("it is noted that all was told", func() (bool, string) {
		paths, _ := filepath.Glob(p.InNbs("deliveries", "*.json"))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(text), `"over"`) && !strings.Contains(string(text), `"joined"`) {
				return false, string(text)
			}
		}
		return true, ""
	})
}

// keyOf returns the key of a place's conversation.
func keyOf(at told.Place) string {
	key := "telegram:" + strconv.FormatInt(at.Chat, 10)
	if at.Topic != 0 {
		key += "/" + strconv.Itoa(at.Topic)
	}
	return key
}

// heardOnce checks that the transcripts of a place have nothing twice that was said there once, and adds the session of
// each text to sessions.
func (p *botParachute) heardOnce(at told.Place, sessions map[string]string) {
	key, session := keyOf(at), ""
	heard := map[string]int{}
	history := p.OK("conversation", "history", key, "--all", "--json")
	for line := range strings.Lines(history) {
		var m struct {
			Who, Text string
			SessionID string `json:"session_id"`
		}
		p.Must(json.Unmarshal([]byte(line), &m))
		switch {
		case m.Who == "session":
			session = m.SessionID
		case m.Who == "you" && m.Text != "[image]" && m.Text != goOn:
			heard[m.Text]++
			sessions[m.Text] = session
		}
	}
	for text, times := range heard {
		p.Check(times == 1, "Claude heard %d times in %s: %q\n%s", times, key, text, history)
	}
	p.Check(session != "", "no session of %s is in its history", key)
}

// goOn is what Claude hears when a text was heard and has no answer.
const goOn = "Please answer the message above; it has had no answer yet."

func (p *botParachute) noProcess() {
	p.WaitFor("every claude to have left", func() (bool, string) {
		left := slices.DeleteFunc(p.Processes(), func(w e2e.WorldProcess) bool { return !w.AnswersTurns() })
		return len(left) == 0, fmt.Sprint(left)
	})
}
