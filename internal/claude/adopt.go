package claude

import "path/filepath"

// What can be known of a claude that somebody started by hand.

// IsClaude tells whether a command line is one of Claude Code, by the program's name: of a
// session that has not entered itself into the registry nothing else can be known.
func IsClaude(cmdline []string) bool {
	return len(cmdline) > 0 && filepath.Base(cmdline[0]) == "claude"
}

// Amnesia returns the variable of an environment that keeps claude from writing a
// transcript, or "".
func Amnesia(variable func(name string) (string, bool)) string {
	for _, name := range []string{"CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SKIP_PROMPT_HISTORY"} {
		if value, set := variable(name); set && value != "" {
			return name
		}
	}
	return ""
}
