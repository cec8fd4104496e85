package chat

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// inBackground is a text for which claude runs a command in the background.
func inBackground(command string) string {
	return fmt.Sprintf(`[[tool Bash {"command":"%s","description":"%[1]s","run_in_background":true}]]`, command)
}

// A command in the background is waited for, and Claude's words about it come with the answer and are in the history. If
// the asker is killed, they come with the next answer.
// One that is not waited for is ended, and named; Claude says so at the next text by itself, which is not taken for the
// answer. A text that a hook of the user's refuses has a class, and the conversation goes on.
func TestWhatClaudeDoesBesideItsAnswers(t *testing.T) {
	m := eachVersion(t)
	got := m.Ask(0, "review", inBackground("sleep 0.5"), "--allowed-tools", "Bash")
	m.Check(strings.HasPrefix(*got.Answer, "Tool said: Command running in background") && len(got.FollowUps) == 1 && strings.HasPrefix(got.FollowUps[0], "You said:") && got.Notice == "", "%+v", got)
	history := m.OK("conversation", "history", "review")
	m.Check(strings.Contains(history, "agent: You said:") && !strings.Contains(history, "you: <task"), "%s", history)

	begin := func(command string, answered int) *e2e.Running {
		ask := m.Begin("ask", "review", inBackground(command))
		m.WaitFor("the answer is recorded", func() (bool, string) { return m.keyed("review").Answered == answered, "" })
		return ask
	}
	over := filepath.Join(m.World.Home, "over")
	killed := begin("until test -e "+over+"; do sleep 0.1; done", 2)
	m.Kill(killed.Process.Pid, syscall.SIGKILL)
	killed.End()
	m.Write(over, "")
	m.WaitFor("its claude has said something by itself and has exited", func() (bool, string) {
		return !slices.ContainsFunc(m.Processes(), e2e.WorldProcess.AnswersTurns), ""
	})
	got = m.Says("review", "hello", "You said: hello")
	m.Check(strings.HasPrefix(got.Notice, "Claude said by itself after the last answer: You said:"), "%+v", got)

	ask := begin("sleep 300", 4)
	m.Must(ask.Process.Signal(syscall.SIGINT))
	r := ask.End()
	m.Check(r.Code == 0 && strings.HasPrefix(r.Stdout, "Tool said: Command running") && strings.Contains(r.Stderr, "note: A background task was ended") && strings.Contains(r.Stderr, "sleep 300"), "%s", r)
	got = m.Says("review", "Remember 42.", "OK, I will remember 42.")
	m.Check(got.Notice == "", "it was said: %+v", got)

	m.UserSettings(`{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"! grep -q secret || { echo no secrets >&2; exit 2; }"}]}]}}`)
	refused := m.Ask(1, "other", "The secret is 7.")
	m.Check(refused.Class == "blocked" && refused.Reason == "no secrets", "%+v", refused)
	m.Says("other", "Remember 42.", "OK, I will remember 42.")
}

// What Claude says by itself on a server that keeps it is a message of its own in the chat, and the next text has its own
// answer.
func TestAChatHearsClaudeSpeakByItself(t *testing.T) {
	m := eachVersion(t)
	p := m.bridged("--allowed-tools", "Bash")
	p.writes(inBackground("sleep 0.5"), "Tool said:...", "You said:...")
	p.writes("Remember 42.", "OK.")
	p.writes("What number?", "42.")
	p.end(syscall.SIGINT)
}
