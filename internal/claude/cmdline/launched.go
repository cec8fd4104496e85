package cmdline

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
)

// Launched is how a person started claude by hand, as its command line shows.
type Launched struct {
	Model          string
	PermissionMode string
	Extra          []string // arguments to give again

	Lost    []string // options that only nbs-worker sets, or that cannot be given twice: --settings
	Unclear []string // options for which it is unknown whether the next word is their value
}

// Options after which the next word is the value, whatever it looks like, and options after which
// it is the value unless it is an option itself. The lists and switches are in extraargs.go.
var (
	valued = []string{
		"--agent", "--agents", "--append-system-prompt", "--append-system-prompt-file", "--autocompact", "--debug-file", "--effort",
		"--fallback-model", "--model", "--name", "-n", "--permission-mode", "--plugin-dir", "--session-id", "--setting-sources",
		"--settings", "--system-prompt", "--system-prompt-file", "--system-prompt-snapshot",
	}
	mayHaveValue = []string{
		"--debug", "-d", "--from-pr", "--remote-control", "--resume", "-r", "--teleport", "--tmux", "--worktree", "-w",
	}
)

// bypassSwitch is the other name of the mode bypassPermissions.
const bypassSwitch = "--dangerously-skip-permissions"

// conversationFlags only choose the conversation to begin with. The registry
// names the one that claude is in now.
var conversationFlags = []string{"--session-id", "--resume", "-r", "--continue", "-c", "--fork-session", "--from-pr", "--teleport"}

// ReadLaunch reads the command line of a claude that a person started. Words that belong to no option are prompts,
// and are left out.
func ReadLaunch(cmdline []string) Launched {
	var l Launched
	var modes []string
	for rest := cmdline[min(1, len(cmdline)):]; len(rest) > 0 && rest[0] != "--"; {
		if !isOption(rest[0]) {
			rest = rest[1:]
			continue
		}
		option := rest[:1+l.valuesOf(rest)]
		rest = rest[len(option):]
		name, value, joined := strings.Cut(option[0], "=")
		if !joined && len(option) > 1 {
			value = option[1]
		}
		switch {
		case name == "--model":
			l.Model = value
		case name == "--permission-mode":
			modes = append(modes, value)
		case name == bypassSwitch:
			modes = append(modes, string(agent.BypassPermissions))
		case slices.Contains(conversationFlags, shortName(name)):
		case IsOwned(name):
			l.Lost = append(l.Lost, name)
		default:
			l.Extra = append(l.Extra, joinedValue(option)...)
		}
	}
	if modes = slices.Compact(modes); len(modes) == 1 { // of two it is unknown which one holds
		l.PermissionMode = modes[0]
	}
	return l
}

// valuesOf returns how many words after the option, the first word, are its values.
func (l *Launched) valuesOf(rest []string) int {
	free := 0 // words after the option that are no options themselves
	for free+1 < len(rest) && rest[free+1] != "--" && !isOption(rest[free+1]) {
		free++
	}
	option := rest[0]
	flag := slices.Contains(switches, option) || IsOwned(option) && !slices.Contains(valued, option) && !slices.Contains(mayHaveValue, option)
	switch {
	case strings.Contains(option, "=") || shortName(option) != option || flag:
		return 0
	case slices.Contains(lists, option):
		return free
	case slices.Contains(valued, option):
		return min(1, len(rest)-1)
	case slices.Contains(mayHaveValue, option):
		return min(1, free)
	case free > 0:
		l.Unclear = append(l.Unclear, option)
	}
	return 0
}

// shortName returns a short option without the value or letters joined to it. It returns any other option unchanged.
func shortName(option string) string {
	if len(option) > 2 && option[1] != '-' {
		return option[:2]
	}
	return option
}

// joinedValue joins a value that looks like an option to its option.
func joinedValue(option []string) []string {
	if len(option) == 2 && isOption(option[1]) && strings.HasPrefix(option[0], "--") {
		return []string{option[0] + "=" + option[1]}
	}
	return option
}
