package cmdline

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// ownedFlags are set from the record, or would make the record untrue: they choose another conversation, another
// place, no terminal or no transcript.
var ownedFlags = []string{
	"--session-id", "--resume", "-r", "--continue", "-c", "--fork-session", "--from-pr", "--teleport",
	"--model", "--permission-mode", "--dangerously-skip-permissions", "--settings",
	"--worktree", "-w", "--tmux", "--cloud", "--remote", "--environment", "--desktop",
	"--print", "-p", "--bg", "--background", "--no-session-persistence", "--version", "-v", "--help", "-h",
}

// switches take no value: a word after one is a prompt. An option in lists takes any number of words. Any other
// option takes at most one.
var (
	switches = []string{
		"--allow-dangerously-skip-permissions", "--ax-screen-reader", "--bare", "--brief", "--chrome", "--disable-slash-commands",
		"--exclude-dynamic-system-prompt-sections", "--forward-subagent-text", "--ide", "--include-hook-events",
		"--include-partial-messages", "--no-chrome", "--replay-user-messages", "--restricted", "--safe-mode",
		"--strict-mcp-config", "--verbose",
	}
	lists = []string{
		"--add-dir", "--allowedTools", "--allowed-tools", "--betas", "--disallowedTools", "--disallowed-tools", "--file",
		"--mcp-config", "--tools",
	}
)

// CheckExtraArgs checks a user's additional arguments for claude. It refuses a word that belongs to no option: that
// would be a prompt, and claude would get it again at each resume. Errors: BadInput.
func CheckExtraArgs(args []string) error {
	words := 0 // how many may still follow
	for _, arg := range args {
		if err := agent.CheckText("extra argument", arg); err != nil {
			return err
		}
		if isOption(arg) {
			if err := checkOwned(arg); err != nil {
				return err
			}
			words = wordsOf(arg)
			continue
		}
		if words == 0 {
			return fail.Errorf(fail.BadInput, "extra argument %s is neither an option of claude nor the value of an option", human.Quote(arg)).
				Hint("give the first prompt with --prompt TEXT, and several values one by one: --option=A --option=B")
		}
		words--
	}
	return nil
}

// isOption reports whether an argument is an option, not a word. A value may begin with a dash too, but no option has
// white space in its name.
func isOption(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return len(name) > 1 && name[0] == '-' && !strings.ContainsAny(name, " \t\n")
}

// wordsOf returns how many of the words after an option can be its values.
func wordsOf(option string) int {
	const noLimit = 1 << 20
	switch {
	case strings.Contains(option, "=") || shortName(option) != option || slices.Contains(switches, option):
		return 0
	case slices.Contains(lists, option):
		return noLimit
	default:
		return 1
	}
}

func checkOwned(arg string) error {
	name, _, _ := strings.Cut(arg, "=")
	if !IsOwned(name) && arg != "--" {
		return nil
	}
	return fail.Errorf(fail.BadInput, "extra argument %s is set by nbs-worker itself", human.Quote(name)).
		Hint("see nbs-worker help spawn for --model, --permission-mode, --settings, --session-id and --prompt")
}

// IsOwned reports whether only nbs-worker may set an option, also if a value or other letters are joined to a short
// one: -rUUID, -pc.
func IsOwned(option string) bool { return slices.Contains(ownedFlags, shortName(option)) }
