package chat

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/sim/telegram"
)

// phone is the chat of a person with the bot, and the server behind that.
type phone struct {
	*team

	bot    *telegram.Server
	server *e2e.Running
	read   int // messages of the bot
	turns  int // of alpha; see rests
}

const chatNumber = 123456789

// bridged begins a server with a bridge to a simulated Telegram.
func (m *team) bridged(args ...string) *phone {
	m.Helper()
	bot, err := telegram.Start(telegram.Options{})
	m.Must(err)
	m.Cleanup(func() { _ = bot.Close() })
	token := filepath.Join(m.World.RunDir, "token")
	m.Must(os.WriteFile(token, []byte(telegram.Token+"\n"), 0o600))
	p := &phone{team: m, bot: bot}
	p.serves(args...)
	return p
}

// serves begins the server, as often as it is ended.
func (p *phone) serves(args ...string) {
	p.Helper()
	calls := p.bot.Calls("getMe")
	p.server = p.Begin(append([]string{
		"serve", "--telegram-token-file", filepath.Join(p.World.RunDir, "token"), "--telegram-url", p.bot.URL(),
		"--telegram-chat", strconv.Itoa(chatNumber), "--telegram-agents", "private", "--system-prompt", "Be terse.",
	}, args...)...)
	p.Must(p.bot.AwaitCalls(p.deadline(), "getMe", calls+1))
	server := p.server
	p.Cleanup(func() {
		if server.ProcessState == nil {
			_ = server.Process.Signal(syscall.SIGINT)
			_ = server.Wait()
		}
	})
}

func (p *phone) deadline() context.Context {
	return rig.Patient(p)
}

// hears waits until the bot's next messages are these. Until then, one may show a part of its answer.
func (p *phone) hears(want ...string) {
	p.Helper()
	_, err := p.bot.AwaitIn(p.deadline(), chatNumber, func(all []telegram.Message) bool {
		all = slices.DeleteFunc(all, func(m telegram.Message) bool { return !m.Bot })
		return len(all) >= p.read+len(want) && slices.EqualFunc(all[p.read:p.read+len(want)], want, func(m telegram.Message, words string) bool {
			start, isStart := strings.CutSuffix(words, "...")
			return m.Text == words || isStart && strings.HasPrefix(m.Text, start)
		})
	})
	if err != nil {
		p.Fatalf("the bot said %q; want %q at last: %v\n%s\n%s", p.bot.Sent(chatNumber), want, err, p.server.Err.String(), p.NBS("conversation", "queue", "--json"))
	}
	p.read += len(want)
}

// says writes to the bot.
func (p *phone) writes(text string, want ...string) {
	p.Helper()
	p.bot.Say(chatNumber, text)
	p.hears(want...)
}

// end ends the server, which is no failure.
func (p *phone) end(signal syscall.Signal) {
	p.Helper()
	p.Must(p.server.Process.Signal(signal))
	if r := p.server.End(); signal != syscall.SIGKILL && r.Code != 130 && r.Code != 0 {
		p.Errorf("the server: %s", r)
	}
}

// has checks that a transcript has what was just told: it would be lost with a claude that is killed now.
func (p *phone) has(words string) {
	p.Helper()
	text := e2e.Read(p.T, p.transcriptOf("*"))
	p.Check(strings.Contains(text, strconv.Quote(words)), "%q is not in the transcript:\n%s", words, text)
}

// The seeds' conversation through the bridge, word for word, with all that may happen in the middle: claude is killed
// while it answers, the server is killed, and the number is remembered.
func TestTheSeedsConversationInAChat(t *testing.T) {
	m := standIn(t)
	m.Chats()
	p := m.bridged()
	p.writes("Remember 42.", "OK.")
	p.has("OK.")
	p.writes("What number?", "42.")
	p.has("42.")

	p.writes("[[until killed]] And now?")
	p.WaitFor("the API is asked", func() (bool, string) {
		asked := p.API.Requests()
		return strings.Contains(asked[len(asked)-1].Last(), "And now?"), ""
	})
	p.has("[[until killed]] And now?")
	p.killAnswering()
	p.API.Release("killed")
	p.hears("...")

	p.noted()
	p.end(syscall.SIGKILL)
	p.bot.Say(chatNumber, "What number?") // while nobody is there
	p.serves()
	p.hears("42.")
	p.noted()
	before := m.keyed("telegram:123456789").SessionID
	p.writes("/new", "Starting fresh; the old conversation is kept as "+before+".")
	p.writes("What number?", "I don't have any number in mind.")
	p.writes("/status", "Session "+m.keyed("telegram:123456789").SessionID+".\n...")
	p.end(syscall.SIGINT)
}

// noted waits until it is written down that all answers were told: who is killed before that tells the last again.
func (m *team) noted() {
	m.Helper()
	m.WaitFor("it is noted that all was told", func() (bool, string) {
		notes, err := filepath.Glob(filepath.Join(m.World.Project, ".nbs/deliveries/*.json"))
		m.Must(err)
		for _, note := range notes {
			if text, err := os.ReadFile(note); err != nil || !strings.Contains(string(text), `"over"`) && !strings.Contains(string(text), `"joined"`) {
				return false, string(text)
			}
		}
		return len(notes) > 0, ""
	})
}

// killAnswering kills the claude that is at a turn.
func (p *phone) killAnswering() {
	p.Helper()
	p.WaitFor("claude is at the turn", func() (bool, string) {
		open := p.keyed("telegram:" + strconv.Itoa(chatNumber)).Open
		return len(open) == 1 && open[0].State == "running", fmt.Sprint(open)
	})
	pid := p.WaitListed("answers a conversation")
	p.Must(syscall.Kill(pid, syscall.SIGKILL))
}

// A user sees which tool runs, and gets the answer in the same message, with its format, and the file that it names.
func TestAUserSeesClaudeAtWork(t *testing.T) {
	m := eachVersion(t)
	m.Chats()
	p := m.bridged("--allowed-tools", "Bash")
	report, seen := filepath.Join(p.World.Project, "report.md"), filepath.Join(p.World.Project, "seen")
	p.writes(`[[tool Bash {"command":"until [ -e seen ]; do sleep 0.1; done; echo '# Report' >report.md; echo 'I **wrote** report.md.'"}]]`,
		"Running Bash: until [ -e seen ]...")
	p.Must(os.WriteFile(seen, nil, 0o600))
	p.read--
	p.hears("Tool said: I wrote report.md.\n\n/file report.md")
	got := p.bot.Bots(chatNumber)[0]
	p.Check(got.Before[0] == "…" && got.Entities[0] == telegram.Entity{Type: "bold", Offset: 13, Length: 5}, "%+v", got)
	p.writes("/file "+report, "")
	got = p.bot.Bots(chatNumber)[1]
	p.Check(got.Media != nil && got.Media.Name == "report.md" && string(got.Media.Content) == "# Report\n", "%+v", got)
	p.Check(len(p.bot.Faults()) == 0, "%q", p.bot.Faults())
	p.end(syscall.SIGINT)
}
