package main

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
	"nbs-worker/internal/sim/rig"
)

// What a program says about the time and the place reaches Claude beside the user's words, and only so much of it; the
// system prompt is the same at each turn, also after a compaction, and another one is refused.
func TestContextAndSystemPrompt(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		const identity, place = "You are the identity canary.", "It is noon in the place canary."
		context := m.program("context", fmt.Sprintf("echo '%s'; echo \"$NBS_CONVERSATION\"", place))
		begin := []string{"--system-prompt", identity, "--context-cmd", context}
		m.says("review", "first words", "You said: first words", begin...)
		m.says("review", "second words", "You said: second words", "--context-cmd", m.program("long", "echo '"+place+"'; yes long | head -c 40000"))
		m.says("review", "third words", "You said: third words", "--context-cmd", context, "--system-prompt", identity)
		asked := 0
		for _, r := range m.api.Requests() {
			if !strings.HasSuffix(r.Last(), " words") {
				continue
			}
			asked++
			m.check(bytes.Contains(r.Body, []byte(identity)), "without its system prompt: %q", r.Texts)
			m.check(bytes.Contains(r.Body, []byte(place)) && bytes.Contains(r.Body, []byte("review")), "without its context: %q", r.Texts)
			m.check(bytes.Count(r.Body, []byte("long")) < 17<<10/len("long\n"), "%d times long", bytes.Count(r.Body, []byte("long")))
		}
		m.check(asked >= 3, "%d requests", asked)
		m.check(!strings.Contains(m.ok("conversation", "history", "review"), "canary"), "the context is among the words")
		cut := m.ask(0, "review", "fourth words", "--context-cmd", m.program("long", "yes long | head -c 40000"))
		m.check(strings.Contains(cut.Notice, "cut after"), "%+v", cut)
		none := m.ask(0, "review", "fifth words", "--context-cmd", m.program("fails", "exit 3"))
		m.check(strings.Contains(none.Notice, "without context"), "%+v", none)
		m.refused(5, "another system prompt", "ask", "review", "sixth", "--system-prompt", "You are another.")
		m.ok("conversation", "reset", "review", "--system-prompt", "You are another.")
		if got := m.ask(0, "review", "seventh", "--system-prompt", "You are another."); got.Continuity != "reset" {
			m.Errorf("%+v", got)
		}
	})
}

// The same id is one turn, and a turn without the conversation leaves it as it is.
func TestAskOnceAndApart(t *testing.T) {
	m := real(t)
	m.says("review", "Remember 42.", "OK, I will remember 42.", "--id", "update-1")
	before := len(m.api.Requests())
	again := m.says("review", "Remember 42.", "OK, I will remember 42.", "--id", "update-1")
	m.check(again.Seq == 1 && len(m.api.Requests()) == before, "%+v, %d requests", again, len(m.api.Requests())-before)
	m.refused(5, "another request", "ask", "review", "Remember 7.", "--id", "update-1")
	for _, r := range m.api.Requests() {
		m.check(!bytes.Contains(r.Body, []byte("nbs-turn")), "without a context Claude hears of us: %q", r.Texts)
	}
	apart := m.says("review", "Remember 7. What number?", "7", "--isolated", "--system-prompt", "You are alone.")
	m.check(apart.Continuity == "new" && apart.SessionID != again.SessionID, "%+v", apart)
	m.says("later", "apart", "You said: apart", "--isolated", "--system-prompt", "You are alone.")
	m.says("later", "Remember 42.", "OK.", "--system-prompt", "Be terse.")
	m.refused(5, "another system prompt", "ask", "later", "x", "--system-prompt", "You are alone.")
	m.says("review", "What number?", "42")
	m.refused(4, "key", "ask", "two words", "x")
	m.refused(4, "set by nbs-worker", "ask", "review", "x", "--", "--output-format", "text")
	got := m.ask(3, "review", "[[delay 1h]] x", "--timeout", "2s")
	m.check(got.Class == "timed_out", "%+v", got)
	m.says("review", "What number?", "42")
}

// What other bridges have stored is gone on with.
func TestImportConversations(t *testing.T) {
	m := real(t)
	id := m.says("before", "Remember 42.", "OK, I will remember 42.").SessionID
	unknown := agent.NewSessionID()
	folder := m.folder("sessions")
	m.write(filepath.Join(folder, "123456789"), strings.ToUpper(id)+"\n")
	m.write(filepath.Join(folder, "5"), string(unknown))
	m.mustSay(m.ok("conversation", "import", folder), "telegram:123456789 goes on in "+id, "telegram:5 goes on in "+string(unknown)+", of which there is no transcript")
	if got := m.says("telegram:123456789", "What number?", "42"); got.Continuity != "resumed" || got.SessionID != id {
		m.Errorf("%+v", got)
	}
	m.ask(2, "telegram:5", "What number?")
	m.write(filepath.Join(m.world.Root, "session_id.txt"), id)
	m.ok("conversation", "import", filepath.Join(m.world.Root, "session_id.txt"), "--key", "main")
	m.says("main", "What number?", "42")
	m.write(filepath.Join(folder, "123456789"), string(unknown))
	m.refused(7, "in another session", "conversation", "import", folder)
	m.write(filepath.Join(folder, "1"), "not an id")
	m.write(filepath.Join(folder, "9"), string(unknown))
	r := m.refused(7, "is not a UUID", "conversation", "import", folder)
	m.mustSay(r.stdout, "telegram:9 goes on in "+string(unknown))
	m.refused(4, "is no program", "serve", "--telegram-chat", "1", "--context-cmd", folder)
}

// An agent that is open is asked in its terminal, and a copy of it without a word in its conversation; an agent's own
// question says from whom it is, and runs nothing of its choice.
func TestAskAndAgents(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet", "--prompt", "Remember 42.")
	m.waitState("alpha", "idle")
	m.mustPrint("42\n", "ask", "@alpha", "What number?")
	if got := m.says("@alpha", "What number?", "42", "--fork"); got.SessionID == m.session("alpha").SessionID {
		m.Errorf("%+v", got)
	}
	rig.Equal(m, strings.Count(m.ok("logs", "alpha"), "What number?"), 1, "questions in the agent's conversation")
	said := m.reply("alpha", `[[tool Bash {"command":"nbs-worker ask review 'hello' 2>&1"}]]`)
	m.mustSay(said, "alpha", "hello")
	m.mustSay(m.ok("conversation", "history", "review"), "agent alpha", "hello")
	for _, chosen := range []string{"--context-cmd /bin/true", "--system-prompt mine"} {
		said = m.reply("alpha", `[[tool Bash {"command":"nbs-worker ask telegram:1 hello `+chosen+` 2>&1"}]]`)
		m.mustSay(said, "is for a person")
	}
}

// Who is interrupted leaves no claude behind, and the text to whoever asks next.
func TestInterruptedAsk(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.says("review", "Remember 42.", "OK, I will remember 42.")
		ask := m.begin("ask", "review", "[[delay 20s]] hello")
		m.waitFor("claude asks", func() (bool, string) {
			all := m.api.Requests()
			return all[len(all)-1].Last() == "[[delay 20s]] hello", ""
		})
		m.must(ask.Process.Signal(syscall.SIGINT))
		got := ask.end()
		m.check(got.code == 130 && strings.Contains(got.stderr, "the text is kept, as turn 2"), "%s", got)
		for _, p := range m.processes() {
			m.check(!p.answersTurns(), "left behind: %s", p)
		}
		m.mustSay(m.ok("conversation", "queue", "review"), "queued", "hello")
		m.says("review", "What number?", "42")
		rig.Equal(m, m.keyed("review").Answered, 3, "answers")
	})
}

// A claude whose ask was killed goes on, and is met by who comes next.
func TestAskIsKilled(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		ask := m.begin("ask", "review", `[[tool Bash {"command":"echo ran >>RAN; sleep 60"}]]`,
			"--system-prompt", "You are left behind.", "--", "--allowed-tools", "Bash")
		m.waitFor("the tool has run", func() (bool, string) {
			text, _ := os.ReadFile(filepath.Join(m.dir, "RAN")) // which is there a little before its line
			return string(text) == "ran\n", string(text)
		})
		m.kill(ask.Process.Pid, syscall.SIGKILL)
		ask.end()
		m.refused(8, "nobody knows what they have done", "ask", "review", "What now?")
		m.noTurnFiles()
		m.mustSay(m.ok("conversation", "queue"), "dead", "nobody knows")
		m.ok("conversation", "retry", "review")
		if got := m.ask(0, "review", "What now?"); got.Continuity != "resumed" {
			m.Errorf("%+v", got)
		}
		rig.Equal(m, strings.Count(m.snapshot(filepath.Join(m.dir, "RAN")), "ran"), 1, "times that the tool ran")
	})
}

// With a container end its processes, its pids and its boot; the folders stay, and the conversation with them, also one
// in the middle of a turn.
func TestConversationsOutliveAContainer(t *testing.T) {
	m := real(t)
	outside := m.worker
	inside := func(boot int) *namespace {
		m.worker = outside
		n := m.inNamespace()
		id := filepath.Join(m.world.Root, "boot"+strconv.Itoa(boot))
		m.write(id, fmt.Sprintf("00000000-0000-4000-8000-00000000000%d\n", boot))
		n.sh(`mount --bind "$1" /proc/sys/kernel/random/boot_id`, id)
		return n
	}
	first := inside(1)
	id := m.says("review", "Remember 42.", "OK, I will remember 42.").SessionID
	ask := m.begin("ask", "review", "[[delay 1h]] hello")
	m.waitFor("claude asks", func() (bool, string) {
		all := m.api.Requests()
		return all[len(all)-1].Last() == "[[delay 1h]] hello", ""
	})
	m.waitFor("it stands in the transcript", func() (bool, string) { // else it is said again, and takes its hour
		text := m.snapshot(m.transcriptOf(id))
		return strings.Contains(text, "[[delay 1h]] hello"), ""
	})
	pid, err := strconv.Atoi(first.init)
	m.must(err)
	m.kill(pid, syscall.SIGKILL)
	ask.end()
	inside(2)
	goesOn := func(continuity, words string, args ...string) {
		m.Helper()
		if got := m.says("review", "What number?", words, args...); got.Continuity != continuity || (got.SessionID == id) != (continuity == "resumed") {
			m.Errorf("%+v; want %s", got, continuity)
		}
	}
	goesOn("resumed", "42")
	rig.Equal(m, m.keyed("review").Answered, 3, "answers")
	m.must(os.Remove(m.transcriptOf(id)))
	goesOn("resumed", "42") // from what is kept
	m.must(os.Remove(m.transcriptOf(id)))
	m.must(os.Remove(m.keptPath(id)))
	goesOn("reset", "I don't know any number.", "--on-lost", "fresh")
}
