package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// noClaude checks that nothing of a turn is left.
func (m *team) noClaude() {
	m.Helper()
	for _, p := range m.Processes() {
		m.Check(!p.AnswersTurns() && !strings.Contains(strings.Join(p.Args, " "), "RAN"), "left behind: %s", p)
	}
	m.NoTurnFiles()
}

// A turn that is stopped ends with its tools, who waits for it is told what had acted, and the conversation goes on
// with its memory. Where nothing runs, nothing is changed.
func TestInterruptedConversationGoesOn(t *testing.T) {
	m := eachVersion(t)
	m.Says("review", "Remember 42.", "OK, I will remember 42.")
	ask := m.Begin("ask", "review", `[[tool Bash {"command":"echo ran >>RAN; while :; do sleep 0.2; done","description":"runs"}]]`, "--", "--allowedTools", "Bash")
	m.WaitFor("the tool has run", func() (bool, string) {
		text, _ := os.ReadFile(filepath.Join(m.Dir, "RAN")) // which is there a little before its line
		return string(text) == "ran\n", string(text)
	})
	m.MustPrint("review has stopped turn 2; Claude had used Bash\n", "conversation", "interrupt", "review")
	m.MustRefuse(ask.End(), 1, "stopped by nbs-worker conversation interrupt; Claude had used Bash; the conversation is kept")
	m.noClaude()
	m.Refused(2, "no turn is running", "conversation", "interrupt", "review")
	m.Says("review", "What number?", "42")
	all := m.API.Requests()
	body := string(all[len(all)-1].Body) // which of them, is a race in 2.1.197
	m.Check(strings.Contains(body, "[Request interrupted by user") || strings.Contains(body, "The user has stopped the text before"), "the model does not know that the turn was stopped: %s", body)
}

// asking begins a turn that takes long, and waits until the API is asked.
func (m *team) asking(key string) *e2e.Running {
	m.Helper()
	text := "[[delay 600s]] for " + key
	ask := m.Begin("ask", key, text)
	m.WaitFor("claude asks", func() (bool, string) {
		all := m.API.Requests()
		return len(all) > 0 && all[len(all)-1].Last() == text, ask.Err.String()
	})
	return ask
}

// A turn is stopped also if the process that runs it was killed, or is suspended: that one finishes it when it goes on.
// skip and reset stop a turn where that is asked for.
func TestStopWithoutALivingRunner(t *testing.T) {
	m := standIn(t)
	killed := m.asking("killed")
	m.Kill(killed.Process.Pid, syscall.SIGKILL)
	killed.End()
	m.MustPrint("killed has stopped turn 1\n", "conversation", "interrupt", "killed")
	m.noClaude()
	m.Says("killed", "hello", "You said: hello")

	suspended := m.asking("suspended")
	m.Kill(suspended.Process.Pid, syscall.SIGSTOP)
	r := m.Refused(3, "which runs the turn, is suspended", "conversation", "interrupt", "suspended")
	m.MustSay(r.Stderr, "kill -CONT")
	m.Kill(suspended.Process.Pid, syscall.SIGCONT)
	m.MustRefuse(suspended.End(), 1, "stopped by nbs-worker conversation interrupt")
	m.noClaude()

	skipped := m.asking("skipped")
	m.MustSay(m.Refused(5, "a turn of the conversation is running", "conversation", "skip", "skipped").Stderr, "--now")
	m.MustPrint("skipped has stopped turn 1\n", "conversation", "skip", "skipped", "--now")
	m.MustRefuse(skipped.End(), 1, "stopped by a person, who gave it up")

	reset := m.asking("reset")
	m.MustSay(m.OK("conversation", "reset", "reset", "--now"), "has a new session")
	m.MustRefuse(reset.End(), 1, "stopped by a reset")
	m.noClaude()

	const ended = "Claude had answered; its background task was ended: sleep 300"
	m.Says("behind", "hello", "You said: hello")
	goesOn := m.Begin("ask", "behind", inBackground("sleep 300"), "--allowed-tools", "Bash")
	m.WaitFor("the answer is recorded", func() (bool, string) { return m.keyed("behind").Answered == 2, goesOn.Err.String() })
	m.MustPrint("behind has ended what went on after turn 2. "+ended+"\n", "conversation", "interrupt", "behind")
	m.MustSay(goesOn.End().Stderr, "note: "+ended)
	m.noClaude()
	m.Refused(2, "no turn is running", "conversation", "interrupt", "behind")
}

// A user stops what Claude does for their chat, and asks on in the same conversation; or begins a new one at once.
func TestStopInAChat(t *testing.T) {
	m := standIn(t)
	p := m.bridged("--allowed-tools", "Bash")
	p.writes("Remember 42.", "OK.")
	asked := func(text string) {
		p.WaitFor("the API is asked", func() (bool, string) {
			all := p.API.Requests()
			return all[len(all)-1].Last() == text, ""
		})
	}
	p.bot.Say(chatNumber, "[[delay 600s]] long")
	asked("[[delay 600s]] long")
	p.writes("/status", "Session ...")
	p.writes("/stop", "Stopped. The conversation goes on.")
	p.writes("What number?", "42.")
	p.writes("/stop", "Nothing is running.")
	const ended = "Claude had answered; its background task was ended: sleep 300."
	p.writes(inBackground("sleep 300"), "Tool said:...")
	p.writes("/stop", ended)
	p.writes(inBackground("sleep 300"), "Tool said:...")
	m.MustSay(m.OK("conversation", "interrupt", fmt.Sprintf("telegram:%d", chatNumber)), strings.TrimSuffix(ended, "."))
	p.hears(ended)
	p.writes("What number?", "42.")
	p.bot.Say(chatNumber, "[[delay 600s]] longer")
	asked("[[delay 600s]] longer")
	p.writes("/new now", "Stopped.")
	for fresh := false; !fresh; p.read++ { // the reset may say that it waits for the stopped message to be noted
		sent, err := p.bot.Await(p.deadline(), chatNumber, p.read+1)
		p.Must(err)
		fresh = strings.HasPrefix(sent[p.read], "Starting fresh; ")
		p.Check(fresh || strings.HasPrefix(sent[p.read], "Queued: "), "%q", sent[p.read])
	}
	p.writes("What number?", "I don't have any number in mind.")
	p.end(syscall.SIGINT)
	m.noClaude()
}
