package claude

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

var commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/[A-Za-z0-9][A-Za-z0-9_.:-]*$`) })

// instead says for Claude's own commands that do not ask the model what to use in a conversation without a terminal.
var instead = []struct {
	commands []string
	use      string
}{
	{[]string{"clear", "new", "reset", "compact", "autocompact"}, "to begin a new session: nbs-worker conversation reset KEY"},
	{[]string{"resume", "continue", "rewind", "checkpoint", "undo", "branch", "fork"}, "to go back to an earlier session: nbs-worker conversation restore KEY"},
	{[]string{"exit", "quit", "stop", "loop", "proactive", "goal", "background", "bg"}, "to end a turn that runs: nbs-worker conversation interrupt KEY"},
	{[]string{"model", "effort", "fast"}, "to choose the model of a turn: nbs-worker ask KEY TEXT --model NAME"},
	{[]string{"permissions", "allowed-tools", "plan", "sandbox", "add-dir"}, "what Claude may do: nbs-worker help permissions"},
	{[]string{"rename", "name"}, "to name a session: nbs-worker conversation name KEY NAME"},
	{[]string{"usage", "cost", "stats", "context"}, "to see what a conversation costs: nbs-worker conversation show KEY"},
	{[]string{
		"login", "logout", "config", "settings", "output-style", "agents", "mcp", "hooks", "plugin", "reload-plugins", "reload-skills", "memory",
		"color", "theme", "focus", "statusline", "heapdump", "cd", "teleport", "tp", "desktop", "app", "remote-control", "help", "status", "list-agents", "peers", "recap",
	}, "to use it in a terminal: claude"},
}

// CheckCommand refuses a text that is no command for a conversation without a terminal: "/name arguments". Claude's own
// commands that change the conversation, its settings or how it goes on are none. Errors: BadInput.
func CheckCommand(text string) error {
	word, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), " ")
	if !commandName().MatchString(word) || strings.TrimSpace(text) != text {
		return fail.Errorf(fail.BadInput, "%s is not a command of Claude's", human.Quote(word)).Hint("it begins with a slash: '/daily now'")
	}
	name := strings.TrimPrefix(word, "/")
	for _, own := range instead {
		if slices.Contains(own.commands, name) {
			return fail.Errorf(fail.BadInput, "Claude's own command /%s does not run in a conversation", name).Hint("%s", own.use)
		}
	}
	return agent.CheckText("the command", text)
}
