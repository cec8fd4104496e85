package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// command is a command of the page.
type command struct {
	task    string // the heading above it
	line    string // as it stands there
	manages bool   // the page says that it needs --may-manage
}

// commands reads the commands out of a page, as an agent does: those in blocks of shell, each with the comment that is
// behind it or above it.
func commands(page string) (all []command) {
	task, above, isCode := "", "", false
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			isCode, above = line == "```sh", ""
		case isCode && strings.HasPrefix(line, "# "):
			above = line
		case isCode:
			_, comment, _ := strings.Cut(above+line, "# ")
			all, above = append(all, command{task, line, strings.HasPrefix(comment, "manage: ")}), ""
		case strings.HasPrefix(line, "## "):
			task = strings.TrimPrefix(line, "## ")
		}
	}
	return all
}

// step is what a test does for the command that begins with these words: what has to be so before it, and what an agent
// is told when it has run.
type step struct {
	words  string
	before func()
	told   []string
	after  func()
}

// asks has tester ask for a tool, and waits until the request is open.
func (m *team) asks(tool, input string) {
	m.Helper()
	m.OK("send", "tester", "[[tool "+tool+" "+input+"]]", "--timeout", e2e.Patience())
	m.WaitFor("a request for "+tool, func() (bool, string) {
		out := m.OK("requests", "--json")
		return strings.Contains(out, `"tool":"`+tool+`"`), out + m.Screen("tester")
	})
}

// write has tester ask to write a file.
func (m *team) write(name string) func() {
	return func() {
		m.Helper()
		m.asks("Write", fmt.Sprintf(`{"file_path":%q,"content":"1"}`, filepath.Join(m.World.Project, name)))
	}
}

// rests waits until tester has ended its turn.
func (m *team) rests() { m.Helper(); m.WaitState("tester", "idle") }

// last checks that tester's model was told the words last.
func (m *team) last(words string) func() {
	return func() {
		m.Helper()
		m.rests()
		m.MustSay(m.OK("logs", "tester", "--tools", "--last", "3"), words)
	}
}

func (m *team) steps() []step {
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(m.World.Project, name))
		return err == nil
	}
	return []step{
		{words: "list --json", told: []string{`"handle":"boss"`, `"handle":"lead"`}},
		{words: "triage", told: []string{"boss", "idle"}},
		{words: "spawn tester", told: []string{"tester"}},
		{words: "wait tester", told: []string{"tester", "idle"}},
		{words: "logs tester", told: []string{" agent: You said: ", "Run the tests of cart, and say which of them fail."}},
		{words: "session tester", told: []string{"idle", "default"}},
		{words: "send tester 'Which", told: []string{"You said: ", "Which of them fails first?"}},
		{words: "send tester 'Then", told: []string{"tester"}, after: func() {
			m.WaitFor("the message is answered", func() (bool, string) {
				out := m.OK("logs", "tester", "--last", "1")
				return strings.Contains(out, "Then look at price.go too."), out
			})
		}},
		{words: "ask naming", told: []string{"You said: ", "Which name is better, total or sum?"}},
		{words: "requests", before: m.write("one"), told: []string{"tester", "Write"}},
		{words: "approve tester", told: []string{"tester"}, after: func() { m.rests(); m.Check(there("one"), "the file was not written") }},
		{words: "deny tester", before: m.write("two"), told: []string{"tester"}, after: func() { m.last("Use make clean.")(); m.Check(!there("two"), "the file was written") }},
		{words: "answer tester", before: func() { m.asks("AskUserQuestion", e2e.Question) }, told: []string{"tester"}, after: m.last(`"So?"="R"`)},
		{words: "recover tester", before: func() {
			m.Kill(m.WaitState("tester", "idle").RecordedPID, syscall.SIGKILL)
			m.WaitDeath("tester")
		}, told: []string{"tester", "resume"}, after: m.rests},
		{words: "interrupt tester", before: func() {
			m.OK("send", "tester", "[[delay 10m]] Think.", "--timeout", e2e.Patience())
			m.WaitState("tester", "busy")
		}, told: []string{"tester"}, after: m.rests},
		{words: "stop tester", told: []string{"tester"}, after: func() { m.Check(m.Session("tester").State == "stopped", "%+v", m.Session("tester")) }},
		{words: "resume tester", told: []string{"tester"}, after: m.last("\n  Go on.")},
		{words: "dismiss tester", told: []string{"tester"}, after: func() { m.Refused(2, "no such agent", "session", "tester") }},
		{words: "help rights", told: []string{"--may-manage", "Only a person:"}},
		{words: "send --help", told: []string{"Usage:", "--wait-reply"}},
	}
}

// An agent does the ten tasks of the page with nothing but the page: its model asks Claude for the skill, and then runs
// each command as it stands there. Where the page says that it needs --may-manage, the agent is refused, and one that may
// manage does it.
func TestAnAgentDoesTheTasksOfThePage(t *testing.T) {
	m := eachVersion(t)
	m.OK("skill", "install")
	m.OK("spawn", "boss", "--model", "sonnet", "--may-manage")
	m.OK("spawn", "lead", "--model", "sonnet", "--permission-mode", "default", "--", "--allowedTools", "Bash,Skill")
	page := m.finds("lead", "nbs-worker")
	all, steps := commands(page), m.steps()
	m.Check(len(all) == len(steps), "%d commands in the page, %d steps of the test:\n%s", len(all), len(steps), page)
	done := map[string]bool{}
	for i, c := range all {
		s := steps[i]
		if !strings.HasPrefix(c.line, "nbs-worker "+s.words) {
			t.Fatalf("the command %q; the test is for %q", c.line, s.words)
		}
		if s.before != nil {
			s.before()
		}
		by := "lead"
		if c.manages {
			got := m.bash(by, c.line)
			m.Check(got.failed && strings.Contains(got.text, "Exit code 8") && strings.Contains(got.text, "needs --may-manage"), "%s, without the right: %+v", c.line, got)
			by = "boss"
		}
		got := m.bash(by, c.line)
		m.Check(!got.failed, "%s: %+v", c.line, got)
		for _, want := range s.told {
			m.Check(strings.Contains(got.text, want), "%s: %q is not in\n%s", c.line, want, got.text)
		}
		if s.after != nil {
			s.after()
		}
		if t.Failed() {
			t.Fatalf("%s: %s", c.task, c.line)
		}
		done[c.task] = true
	}
	m.Check(len(done) == 10, "tasks: %v", done)
	for _, line := range []string{ // what the page says beside its commands
		"nbs-worker spawn second 'Read.' --model sonnet --restart on-failure --permission-mode plan --dry-run",
		"nbs-worker wait --all --any --for idle --timeout 90s", "nbs-worker recover --all",
	} {
		got := m.bash("lead", line)
		m.Check(!got.failed, "%s: %+v", line, got)
	}
	got := m.bash("lead", "nbs-worker skill install")
	m.Check(strings.Contains(got.text, "Exit code 8") && strings.Contains(got.text, "only a person may install a skill"), "%+v", got)
}
