package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/telegram"
)

// What an agent asks is told on the phone of a person, who answers there.

var user = strconv.Itoa(chatNumber)

// asking is a phone whose user may answer what alpha asks.
func asking(m *team) *phone {
	m.Helper()
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	m.WaitState("alpha", "idle")
	return m.bridged("--telegram-answers", user)
}

// again begins the server after its end.
func (p *phone) again() {
	p.Helper()
	p.serves("--telegram-answers", user)
}

// posts returns the messages of the bot that contain words, as they are now.
func (p *phone) posts(words ...string) []telegram.Message {
	return slices.DeleteFunc(p.bot.Bots(chatNumber), func(m telegram.Message) bool {
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(m.Text, w) })
	})
}

// post waits for a message of the bot that contains words, and returns the last one.
func (p *phone) post(words ...string) telegram.Message {
	p.Helper()
	var found []telegram.Message
	p.WaitFor(fmt.Sprintf("the bot says %q", words), func() (bool, string) {
		found = p.posts(words...)
		return len(found) > 0, strings.Join(p.bot.Sent(chatNumber), "\n--\n")
	})
	return found[len(found)-1]
}

// becomes waits until a message of the bot contains words, and has no buttons.
func (p *phone) becomes(told telegram.Message, words ...string) {
	p.Helper()
	p.WaitFor(fmt.Sprintf("the message says %q", words), func() (bool, string) {
		now := p.bot.Message(told.Number)
		missing := slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(now.Text, w) })
		return !missing && len(now.Buttons) == 0, now.Text
	})
}

// command has alpha ask for a command that makes a file.
func (p *phone) command(n int) (command string) {
	p.Helper()
	command = fmt.Sprintf("touch made%d", n)
	p.OK("send", "alpha", `[[tool Bash {"command":"`+command+`"}]]`)
	return command
}

// asks is command, and waits until the phone was told.
func (p *phone) asks(n int) telegram.Message {
	p.Helper()
	return p.post("alpha asks for permission, since ", "command: "+p.command(n))
}

// requestOf returns the id of the request that a message tells.
func requestOf(told telegram.Message) string {
	_, id, _ := strings.Cut(told.Buttons[0][0].Data, " ")
	id, _, _ = strings.Cut(id, " ")
	return id
}

// presses has the user press a button, which must still be there.
func (p *phone) presses(told telegram.Message, command string) {
	p.Helper()
	p.Check(p.bot.Press(chatNumber, chatNumber, told.Number, command) != "", "no button %s: %+v", command, p.bot.Message(told.Number))
}

func (p *phone) made(n int) string { return filepath.Join(p.World.Project, fmt.Sprintf("made%d", n)) }

// makes waits until the command has run.
func (p *phone) makes(n int) {
	p.Helper()
	p.WaitFor("the tool runs", func() (bool, string) { return e2e.Exists(p.made(n)), "" })
}

// allowed waits until the message says that the phone's user has allowed what was asked, and the command has run.
func (p *phone) allowed(told telegram.Message, n int) {
	p.Helper()
	p.becomes(told, "Allowed at ", ", by telegram:"+user+".")
	p.makes(n)
}

// rests waits until alpha's turn has ended and the phone was told so. It looks at alpha, and waits until nothing more is to
// be told.
func (p *phone) rests() (done telegram.Message) {
	p.Helper()
	p.WaitState("alpha", "idle")
	p.turns++
	const words = "alpha is done, since "
	p.WaitFor("the phone is told that alpha is done", func() (bool, string) {
		return len(p.posts(words)) >= p.turns, strings.Join(p.bot.Sent(chatNumber), "\n--\n")
	})
	p.Screen("alpha")
	p.noted()
	all := p.posts(words)
	p.Check(len(all) == p.turns, "after %d turns, the phone was told %d times that alpha is done", p.turns, len(all))
	return all[len(all)-1]
}

// heard waits until claude was sent words.
func (p *phone) heard(words string) {
	p.Helper()
	p.WaitFor("claude gets "+words, func() (bool, string) {
		asked := p.API.Requests()
		last := string(asked[len(asked)-1].Body)
		return strings.Contains(last, words), last
	})
}

// The whole way: the agent asks, the phone is told, a button or a word answers, the tool runs or does not, and the message
// says what became of it, also if that was decided elsewhere. An answer that comes too late gets a word.
func TestAPhoneAnswersWhatAnAgentAsks(t *testing.T) {
	m := eachVersion(t)
	p := asking(m)
	told := p.asks(1)
	p.Check(len(told.Buttons) == 2 && !told.Quiet, "%+v", told)
	p.WaitState("alpha", "waiting") // claude's registry may say busy for a moment
	p.bot.Say(chatNumber, "/agents")
	p.post("alpha: waits ")
	p.presses(told, "/approve "+requestOf(told))
	p.allowed(told, 1)
	p.rests()

	told = p.asks(2)
	p.bot.Say(chatNumber, "/deny "+requestOf(told)+" Use a folder.")
	p.post("alpha: denied.")
	p.becomes(told, "Denied at ", ", by telegram:"+user+".")
	p.heard("Use a folder.")
	p.rests()
	p.Check(!e2e.Exists(p.made(2)), "what was denied ran")

	p.OK("send", "alpha", "[[tool AskUserQuestion "+e2e.Question+"]]")
	told = p.post("alpha has a question, since ", "So?\n")
	p.Check(told.Buttons[1][0].Text == "2. R", "%+v", told.Buttons)
	p.presses(told, told.Buttons[1][0].Data)
	p.becomes(told, "Answered at ", ", by telegram:"+user+".")
	p.heard(`\"So?\"=\"R\"`)
	p.rests()

	told = p.asks(3)
	p.Must(p.server.Process.Signal(syscall.SIGSTOP)) // the phone shows the buttons, and the desk is first
	p.OK("approve", "alpha")
	p.presses(told, "/deny "+requestOf(told))
	p.Must(p.server.Process.Signal(syscall.SIGCONT))
	p.post("Too late: it was allowed already, by ")
	p.becomes(told, "Allowed at ", ", by ")
	p.makes(3)
	p.rests()

	told = p.asks(4)
	p.entersAtTheDialog(4)
	p.becomes(told, "Over: it was answered at the terminal")
	p.bot.Say(chatNumber, "/deny "+requestOf(told))
	p.post("Too late: the request is over. ")

	done := p.rests()
	p.bot.SayAs(chatNumber, chatNumber, "Remember 42.", telegram.ReplyingTo(done.Number))
	p.post("alpha has it (")
	p.MustAnswer("alpha", "OK, I will remember 42.")
	p.answered(3)
}

// entersAtTheDialog presses Enter at alpha's terminal for as long as it shows a dialog.
func (p *phone) entersAtTheDialog(n int) {
	p.Helper()
	target := "=" + p.Session("alpha").TmuxSession + ":"
	p.WaitFor("the terminal takes the answer", func() (bool, string) {
		shown := p.Tmux("capture-pane", "-p", "-t", target)
		if strings.Contains(shown, "❯ 1. ") {
			p.Tmux("send-keys", "-t", target, "Enter")
		}
		return e2e.Exists(p.made(n)), shown
	})
}

// A server that is killed while it tells leaves the rest to the next one. Nothing is lost, and what may be told twice says
// so.
func TestAPhoneIsToldOverKillsOfServe(t *testing.T) {
	m := &team{e2e.Real(t)}
	p := asking(m)
	p.bot.Fail(telegram.Failure{Method: "sendMessage", Done: true, Mute: true}) // it is sent, and serve does not learn it
	first := p.asks(1)
	p.end(syscall.SIGKILL)
	p.again()
	told := p.post("You may have this already", "touch made1")
	p.presses(told, "/approve "+requestOf(told))
	p.allowed(told, 1)
	p.presses(first, "/approve "+requestOf(first)) // its number is not known, so it has its buttons for ever
	p.post("You have allowed it.")
	p.rests()
	p.Check(len(p.posts("touch made1")) == 2, "%q", p.bot.Sent(chatNumber))

	p.end(syscall.SIGKILL)
	p.command(2) // while no one is there to tell it
	p.isAsked("touch made2")
	p.again()
	told = p.post("touch made2")
	p.isNoted(told)
	p.end(syscall.SIGKILL)
	p.presses(told, "/approve "+requestOf(told)) // while no one is there to take it
	p.again()
	p.allowed(told, 2)
	p.rests()
	p.wasToldOnce("touch made2")

	p.end(syscall.SIGKILL)
	p.OK("send", "alpha", "[[tool AskUserQuestion "+e2e.Question+"]]")
	p.isAsked("AskUserQuestion")
	p.again()
	told = p.post("alpha has a question, since ")
	p.presses(told, told.Buttons[0][0].Data)
	p.becomes(told, "Answered at ", ", by telegram:"+user+".")
	p.rests()
	p.wasToldOnce("alpha has a question")
	p.answered(3)
}

// A server that is killed while it answers leaves the rest to the next one. Each request is answered once, and its message
// says what became of it.
func TestAPhoneAnswersOverKillsOfServe(t *testing.T) {
	m := &team{e2e.Real(t)}
	p := asking(m)
	told := p.asks(1)
	p.isNoted(told)
	hook := p.hook()
	p.Must(syscall.Kill(hook, syscall.SIGSTOP))
	p.presses(told, "/approve "+requestOf(told))
	p.WaitFor("the answer is given", func() (bool, string) {
		given, err := filepath.Glob(filepath.Join(p.World.RunDir, "nbs-worker/*/requests", requestOf(told)+".answer"))
		p.Must(err)
		return len(given) == 1, ""
	})
	p.isAnswered(told)
	p.end(syscall.SIGKILL) // and nothing of the answer is told
	p.Must(syscall.Kill(hook, syscall.SIGCONT))
	p.makes(1)
	p.again()
	p.allowed(told, 1)
	p.rests()

	told = p.asks(2)
	p.isNoted(told)
	edits := p.bot.Calls("editMessageText")
	release := p.bot.Hold("editMessageText")
	p.presses(told, "/approve "+requestOf(told))
	p.makes(2)
	p.Must(p.bot.AwaitCalls(p.deadline(), "editMessageText", edits+1))
	p.end(syscall.SIGKILL) // before the message is changed
	release()
	p.again()
	p.allowed(told, 2)
	p.rests()

	told = p.asks(3)
	p.isNoted(told)
	p.bot.Fail(telegram.Failure{Method: "editMessageText", Done: true, Mute: true})
	p.presses(told, "/approve "+requestOf(told))
	p.allowed(told, 3)
	p.end(syscall.SIGKILL) // it is changed, and serve does not learn it
	p.again()
	p.rests()
	for n := 1; n <= 3; n++ {
		p.wasToldOnce(fmt.Sprintf("touch made%d", n))
	}
	p.answered(3)
}

// isAsked waits until a request of alpha contains words.
func (p *phone) isAsked(words string) {
	p.Helper()
	p.WaitFor("alpha asks", func() (bool, string) {
		open := p.OK("requests", "alpha", "--json")
		return strings.Contains(open, words), open
	})
}

// wasToldOnce checks that one message contains words, and that it was changed once.
func (p *phone) wasToldOnce(words string) {
	p.Helper()
	all := p.posts(words)
	p.Check(len(all) == 1 && len(all[0].Before) == 1, "%s was told, and changed, like this: %+v", words, all)
}

const journal = ".nbs/journal.jsonl"

// isAnswered waits until the journal has the answer of the phone's user to a request.
func (p *phone) isAnswered(told telegram.Message) {
	p.Helper()
	p.WaitFor("the journal has the answer", func() (bool, string) {
		text := e2e.Read(p.T, filepath.Join(p.World.Project, journal))
		return strings.Contains(text, "("+requestOf(told)+"): allowed; by telegram:"+user), text
	})
}

// answered ends the server, and checks that the journal has so many answers of the phone's user.
func (p *phone) answered(count int) {
	p.Helper()
	p.end(syscall.SIGINT)
	text := e2e.Read(p.T, filepath.Join(p.World.Project, journal))
	p.Check(strings.Count(text, "by telegram:"+user) == count, "want %d answers of the phone's user:\n%s", count, text)
	p.Check(len(p.bot.Faults()) == 0, "%q", p.bot.Faults())
}

// hook returns the hook that waits for alpha's answer.
func (p *phone) hook() int {
	p.Helper()
	var hooks []int
	p.WaitFor("one hook waits", func() (bool, string) {
		hooks = slices.DeleteFunc(p.Carrying("alpha"), func(pid int) bool {
			args, err := os.ReadFile(e2e.ProcFile(pid, "cmdline"))
			return err != nil || !strings.Contains(string(args), "\x00hook\x00")
		})
		return len(hooks) == 1, fmt.Sprint(hooks)
	})
	return hooks[0]
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
		return strings.Contains(strings.ReplaceAll(all.String(), " ", ""), fmt.Sprintf(`"growing":%d,`, told.Number)), all.String()
	})
}
