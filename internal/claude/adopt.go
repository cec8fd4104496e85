package claude

import (
	"path/filepath"
	"slices"
)

// What can be known of a claude that somebody started by hand.

// IsClaude tells whether a command line is one of Claude Code, by the program's name: of a
// session that has not entered itself into the registry nothing else can be known.
func IsClaude(cmdline []string) bool {
	return len(cmdline) > 0 && filepath.Base(cmdline[0]) == "claude"
}

// IsBackground tells whether a command line is of the daemon that Claude keeps for sessions in
// the background, of a terminal that it holds for one, or of such a session. The first claude
// that needs the daemon starts it, and it stays for all.
func IsBackground(cmdline []string) bool {
	if len(cmdline) < 2 {
		return false
	}
	switch cmdline[1] {
	case "--bg-pty-host", "--bg-spare":
		return true
	case "daemon":
		return slices.Contains(cmdline, "--origin")
	}
	return false
}

// IsOfTools tells by its variables whether a process was started by a claude's tools.
func IsOfTools(variable func(name string) string) bool { return variable("CLAUDECODE") != "" }
