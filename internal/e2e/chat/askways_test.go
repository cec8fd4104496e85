package chat

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// What a program says about the time and the place reaches Claude beside the user's words, and only so much of it; the
// system prompt is the same at each turn.
func TestContextAndSystemPrompt(t *testing.T) {
	m := standIn(t)
	const identity, place = "You are the identity canary.", "It is noon in the place canary."
	context := m.Program("context", fmt.Sprintf("echo '%s'; echo \"$NBS_CONVERSATION\"", place))
	begin := []string{"--system-prompt", identity, "--context-cmd", context}
	m.Says("review", "first words", "You said: first words", begin...)
	cut := m.Says("review", "second words", "You said: second words", "--context-cmd", m.Program("long", "echo '"+place+"'; yes long | head -c 40000"))
	m.Check(strings.Contains(cut.Notice, "cut after"), "%+v", cut)
	m.Says("review", "third words", "You said: third words", "--context-cmd", context, "--system-prompt", identity)
	asked := 0
	for _, r := range m.API.Requests() {
		if !strings.HasSuffix(r.Last(), " words") {
			continue
		}
		asked++
		m.Check(bytes.Contains(r.Body, []byte(identity)), "without its system prompt: %q", r.Texts)
		m.Check(bytes.Contains(r.Body, []byte(place)) && bytes.Contains(r.Body, []byte("review")), "without its context: %q", r.Texts)
		m.Check(bytes.Count(r.Body, []byte("long")) < 17<<10/len("long\n"), "%d times long", bytes.Count(r.Body, []byte("long")))
	}
	m.Check(asked >= 3, "%d requests", asked)
	m.Check(!strings.Contains(m.OK("conversation", "history", "review"), "canary"), "the context is among the words")
	none := m.Ask(0, "review", "last", "--context-cmd", m.Program("fails", "exit 3"))
	m.Check(strings.Contains(none.Notice, "without context"), "%+v", none)
}

// What other bridges have stored is gone on with.
func TestImportConversations(t *testing.T) {
	m := standIn(t)
	id := m.Says("before", "Remember 42.", "OK, I will remember 42.").SessionID
	unknown := agent.NewSessionID()
	folder := m.Folder("sessions")
	m.Write(filepath.Join(folder, "123456789"), strings.ToUpper(id)+"\n")
	m.Write(filepath.Join(folder, "5"), string(unknown))
	m.MustSay(m.OK("conversation", "import", folder), "telegram:123456789 continues in "+id, "telegram:5 continues in "+string(unknown)+", which has no transcript")
	if got := m.Says("telegram:123456789", "What number?", "42"); got.Continuity != "resumed" || got.SessionID != id {
		m.Errorf("%+v", got)
	}
	if r := m.NBS("ask", "telegram:5", "What number?"); r.Code != 2 || !strings.Contains(r.Stderr, "was imported, and Claude has never had a transcript of it") {
		m.Errorf("%s", r)
	}
	m.Write(filepath.Join(m.World.Root, "session_id.txt"), id)
	m.OK("conversation", "import", filepath.Join(m.World.Root, "session_id.txt"), "--key", "main")
	m.Says("main", "What number?", "42")
}

// An agent that is open is asked in its terminal, and a copy of it without a word in its conversation; an agent's own
// question says from whom it is, and runs nothing of its choice.
func TestAskAndAgents(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "Remember 42.")
	m.WaitState("alpha", "idle")
	m.MustPrint("42\n", "ask", "@alpha", "What number?")
	if got := m.Says("@alpha", "What number?", "42", "--fork"); got.SessionID == m.Session("alpha").SessionID {
		m.Errorf("%+v", got)
	}
	rig.Equal(m, strings.Count(m.OK("logs", "alpha"), "What number?"), 1, "questions in the agent's conversation")
	said := m.Reply("alpha", `[[tool Bash {"command":"nbs-worker ask review 'hello' 2>&1"}]]`)
	m.MustSay(said, "alpha", "hello")
	m.MustSay(m.OK("conversation", "history", "agent:alpha:review"), "agent alpha", "hello")
	for _, chosen := range []string{"--context-cmd /bin/true", "--system-prompt mine"} {
		said = m.Reply("alpha", `[[tool Bash {"command":"nbs-worker ask review hello `+chosen+` 2>&1"}]]`)
		m.MustSay(said, "only a person may")
	}
}

// Who is interrupted leaves no claude behind, and the text to whoever asks next.
func TestInterruptedAsk(t *testing.T) {
	m := standIn(t)
	m.Says("review", "Remember 42.", "OK, I will remember 42.")
	ask := m.Begin("ask", "review", "[[delay 20s]] hello")
	m.WaitFor("claude asks", func() (bool, string) {
		all := m.API.Requests()
		return all[len(all)-1].Last() == "[[delay 20s]] hello", ""
	})
	m.Must(ask.Process.Signal(syscall.SIGINT))
	got := ask.End()
	m.Check(got.Code == 130 && strings.Contains(got.Stderr, "the text is kept as turn 2"), "%s", got)
	for _, p := range m.Processes() {
		m.Check(!p.AnswersTurns(), "left behind: %s", p)
	}
	m.MustSay(m.OK("conversation", "queue", "review"), "queued", "hello")
	m.Says("review", "What number?", "42")
	rig.Equal(m, m.keyed("review").Answered, 3, "answers")
}

// A claude whose ask was killed goes on, and is met by who comes next.
func TestAskIsKilled(t *testing.T) {
	m := standIn(t)
	ask := m.Begin("ask", "review", `[[tool Bash {"command":"echo ran >>RAN; sleep 60"}]]`,
		"--system-prompt", "You are left behind.", "--", "--allowedTools", "Bash")
	m.WaitFor("the tool has run", func() (bool, string) {
		text, _ := os.ReadFile(filepath.Join(m.Dir, "RAN")) // which is there a little before its line
		return string(text) == "ran\n", string(text)
	})
	m.Kill(ask.Process.Pid, syscall.SIGKILL)
	ask.End()
	m.Refused(8, "what they did is unknown", "ask", "review", "What now?")
	m.NoTurnFiles()
	m.MustSay(m.OK("conversation", "queue"), "dead", "what they did is unknown")
	m.OK("conversation", "retry", "review")
	if got := m.Ask(0, "review", "What now?"); got.Continuity != "resumed" {
		m.Errorf("%+v", got)
	}
	rig.Equal(m, strings.Count(m.Snapshot(filepath.Join(m.Dir, "RAN")), "ran"), 1, "times that the tool ran")
}

// With a container end its processes, its pids and its boot; the folders stay, and the conversation with them, also one
// in the middle of a turn.
func TestConversationsOutliveAContainer(t *testing.T) {
	m := standIn(t)
	outside := m.Worker
	inside := func(boot int) *e2e.Namespace {
		m.Worker = outside
		n := m.InNamespace()
		id := filepath.Join(m.World.Root, "boot"+strconv.Itoa(boot))
		m.Write(id, fmt.Sprintf("00000000-0000-4000-8000-00000000000%d\n", boot))
		n.Sh(`mount --bind "$1" /proc/sys/kernel/random/boot_id`, id)
		return n
	}
	first := inside(1)
	id := m.Says("review", "Remember 42.", "OK, I will remember 42.").SessionID
	ask := m.Begin("ask", "review", "[[delay 1h]] hello")
	m.WaitFor("claude asks", func() (bool, string) {
		all := m.API.Requests()
		return all[len(all)-1].Last() == "[[delay 1h]] hello", ""
	})
	m.WaitFor("it stands in the transcript", func() (bool, string) { // else it is said again, and takes its hour
		text := m.Snapshot(m.transcriptOf(id))
		return strings.Contains(text, "[[delay 1h]] hello"), ""
	})
	pid, err := strconv.Atoi(first.Init)
	m.Must(err)
	m.Kill(pid, syscall.SIGKILL)
	ask.End()
	inside(2)
	got := m.Says("review", "What number?", "42")
	m.Check(got.Continuity == "resumed" && got.SessionID == id, "%+v", got)
	rig.Equal(m, m.keyed("review").Answered, 3, "answers")
}
