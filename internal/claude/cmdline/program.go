package cmdline

import (
	"path/filepath"
	"slices"
)

// IsClaude reports whether a command line runs Claude Code, by the name of the program: a session that is not in the
// registry yet has no other sign.
func IsClaude(cmdline []string) bool {
	return len(cmdline) > 0 && filepath.Base(cmdline[0]) == "claude"
}

// IsBackground reports whether a command line belongs to the daemon that Claude runs for background sessions, to a
// terminal that the daemon holds for one, or to such a session. The first claude that needs the daemon starts it, and
// it serves all.
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
