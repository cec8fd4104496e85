package claude

import (
	"os"
	"os/exec"
	"path/filepath"

	"nbs-worker/internal/agent"
)

// BinaryVariable names the claude program to use.
const BinaryVariable = "NBS_CLAUDE"

// FindBinary returns the absolute path of the claude program: the one that is
// chosen, or the first on the PATH. Errors: Unfit.
func FindBinary(chosen string) (string, error) {
	name := chosen
	if name == "" {
		name = "claude"
	}
	path, err := exec.LookPath(name)
	if err == nil {
		return filepath.Abs(path)
	}
	if chosen != "" {
		return "", agent.Errorf(agent.Unfit, "%s=%s cannot be run: %w", BinaryVariable, agent.Quote(chosen), err).
			Hint("unset %s, or set it to the path of the claude program", BinaryVariable)
	}
	return "", agent.Errorf(agent.Unfit, "claude is not on the PATH (%s)", agent.Quote(os.Getenv("PATH"))).
		Hint("install Claude Code, or name the program: export %s=/path/to/claude", BinaryVariable)
}
