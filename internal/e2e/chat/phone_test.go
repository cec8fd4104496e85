package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/telegram"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/projects"
	"nbs-worker/internal/store/requests"
)

// asks opens a request of alpha, as its hook does, and takes the answer to it. ran is called with the answer.
func (m *team) asks(tool string, input map[string]any, ran func(requests.Answer)) *requests.Waiting {
	m.Helper()
	drawer := requests.In(private.Tree(filepath.Join(m.World.RunDir, "nbs-worker", projects.HashOf(m.World.Project), "requests")))
	text, err := json.Marshal(input)
	m.Must(err)
	asked, err := drawer.Open(requests.Request{Handle: "alpha", At: time.Now(), Mode: "default", Tool: tool, Input: text})
	m.Must(err)
	ended := make(chan struct{})
	m.Cleanup(func() { asked.Close(); <-ended })
	go func() {
		defer close(ended)
		for m.Context().Err() == nil {
			if a, there, err := asked.Answer(); err == nil && there {
				ran(a)
				_ = asked.Take(a)
				asked.Close()
				return
			}
			select {
			case <-m.Context().Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return asked
}

// last returns the last message of the bot in the chat.
func (p *phone) last() telegram.Message {
	bots := p.bot.Bots(chatNumber)
	return bots[len(bots)-1]
}

// becomes waits until a message of the bot ends with words.
func (p *phone) becomes(number int, end string) telegram.Message {
	p.Helper()
	p.WaitFor("the message is changed", func() (bool, string) {
		text := p.bot.Message(number).Text
		return strings.Contains(text, end), text
	})
	return p.bot.Message(number)
}

// The way of a phone: an agent asks, the chat is told, serve is killed, a button answers, the message says what became of
// it, and a late answer gets a word.
func TestAPhoneAnswersWhatAnAgentAsks(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	answers := make(chan requests.Answer, 10)
	answered := func(a requests.Answer) { answers <- a }
	user := strconv.Itoa(chatNumber)
	p := m.bridged("--telegram-answers", user)
	again := func() { p.end(syscall.SIGKILL); p.serves("--telegram-answers", user) }

	asked := m.asks("Bash", map[string]any{"command": "rm -rf build"}, answered)
	p.hears("alpha asks for permission, since ...")
	told := p.last()
	p.Check(strings.Contains(told.Text, "command: rm -rf build") && len(told.Buttons) == 2, "%+v", told)
	p.isNoted(told)
	again() // it was told
	p.bot.Press(chatNumber, chatNumber, told.Number, "/approve "+asked.ID)
	a := <-answers
	p.Check(a.Allow && a.By == "telegram:"+user, "%+v", a)
	changed := p.becomes(told.Number, "Allowed at ")
	p.Check(strings.HasSuffix(changed.Text, ", by telegram:"+user+".") && len(changed.Buttons) == 0, "%+v", changed)
	p.writes("/approve "+asked.ID, "You have allowed it.")
	p.writes("/deny "+asked.ID, "Too late: it was allowed already, by telegram:"+user+".")
	journal := e2e.Read(m.T, filepath.Join(m.World.Project, ".nbs/journal.jsonl"))
	m.Check(strings.Contains(journal, "by telegram:"+user), "the journal does not say who answered")

	p.end(syscall.SIGINT)
}

// isNoted waits until the number of a post is written down: who is killed before that tells it again, and says so.
func (p *phone) isNoted(told telegram.Message) {
	p.Helper()
	p.WaitFor("the number of the message is noted", func() (bool, string) {
		notes, err := filepath.Glob(filepath.Join(p.World.Project, ".nbs/deliveries/*.json"))
		p.Must(err)
		var all strings.Builder
		for _, note := range notes {
			text, _ := os.ReadFile(note) // it may just be replaced
			all.Write(text)
		}
		growing := regexp.MustCompile(`"growing": ?` + strconv.Itoa(told.Number))
		return growing.MatchString(all.String()), all.String()
	})
}
