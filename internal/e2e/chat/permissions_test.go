package chat

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What Claude may not do is told. What the first turn permits, it may do in the later ones too.
func TestPermissionsOfAConversation(t *testing.T) {
	m := eachVersion(t)
	refused := m.NBS("ask", "review", `[[tool Bash {"command":"mkdir REFUSED"}]]`)
	m.Check(refused.Code == 0 && strings.Contains(refused.Stderr, "note: Claude was not permitted to use Bash.") && strings.Contains(refused.Stderr, "nbs-worker help permissions"), "%s", refused)
	m.Ask(0, "notes", "Hello.", "--permission-mode", "default", "--allowed-tools", "Bash(mkdir *)", "--allowed-tools", "Read")
	got := m.Ask(0, "notes", `[[tool Bash {"command":"mkdir PERMITTED"}]]`)
	_, err := os.Stat(filepath.Join(m.Dir, "PERMITTED"))
	m.Check(err == nil && len(got.Denials) == 0 && got.Notice == "", "%v, %+v", err, got)
	got = m.Ask(0, "notes", `[[tool Bash {"command":"mkdir OTHER"}]]`, "--permission-mode", "dontAsk")
	m.Check(len(got.Denials) == 1 && got.Denials[0].Tool == "Bash" && got.Denials[0].Input == "mkdir OTHER", "%+v", got)
	m.MustSay(m.OK("conversation", "show", "notes"), "permissions    default; allowed tools Bash(mkdir *), Read")
}

// A bot that permits less than before does so from the next message on, in the same conversation, and the chat reads
// what was refused.
func TestABotPermitsLess(t *testing.T) {
	m := standIn(t)
	p := m.bridged("--allowed-tools", "Bash(mkdir *)")
	p.writes("Remember 42.", "OK.")
	p.writes(`[[tool Bash {"command":"mkdir ONE"}]]`, "Tool said:...")
	p.end(syscall.SIGINT)
	p.serves("--permission-mode", "plan")
	p.writes(`[[tool Bash {"command":"mkdir TWO"}]]`, "Claude was not permitted to use Bash.\n\nTool said:...")
	p.writes("What number?", "42.")
	_, one := os.Stat(filepath.Join(m.Dir, "ONE"))
	_, two := os.Stat(filepath.Join(m.Dir, "TWO"))
	m.Check(one == nil && two != nil, "%v, %v", one, two)
	p.end(syscall.SIGINT)
	m.MustSay(p.server.Err.String(), "chats: what Claude may do: plan", "may do: plan; before: allowed tools Bash(mkdir *)")
	m.MustSay(m.OK("conversation", "show", "telegram:123456789"), "permissions    plan", "earlier        allowed tools Bash(mkdir *), until ")
}

// A command of the project runs where a person asks for it. One that Claude does not have, or that would change the
// conversation, is refused.
func TestCommandsOfAProject(t *testing.T) {
	m := eachVersion(t)
	m.Write(filepath.Join(m.Dir, ".claude", "commands", "daily.md"), "Say what is new: $ARGUMENTS\n")
	m.MustPrint("You said: Say what is new: now\n", "ask", "notes", "--command", "/daily now")
	m.Refused(4, "Claude has no command /weekly here", "ask", "notes", "--command", "/weekly")
	m.Refused(4, "nbs-worker conversation reset", "ask", "notes", "--command", "/clear")
	m.MustSay(m.OK("conversation", "history", "notes"), "/daily now")
}
