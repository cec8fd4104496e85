package claude

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// BinaryVariable names the claude program to use.
const BinaryVariable = "NBS_CLAUDE"

// ErrCannotRun means that the claude program does not exist or cannot be run. During an update of claude that is
// temporary.
var ErrCannotRun = errors.New("claude cannot be run")

// CannotRun returns the error for a program that was found before, but cannot be run. Errors: Unfit, an
// [ErrCannotRun].
func CannotRun(path string, cause error) error {
	return fail.Errorf(fail.Unfit, "%w: the program %s is missing or incomplete: %w", ErrCannotRun, human.Quote(path), cause).
		Hint("look at it: ls -l %s", human.ShellWord(path))
}

// CheckBinary checks that a program can still be run, by its absolute path. Errors: those of [CannotRun].
func CheckBinary(path string) error {
	_, err := exec.LookPath(path)
	if err != nil {
		return CannotRun(path, cmp.Or(errors.Unwrap(err), err))
	}
	return nil
}

// FindBinary returns the absolute path of the claude program: the chosen one, or the first on the PATH. Errors:
// Unfit.
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
		return "", fail.Errorf(fail.Unfit, "%s=%s cannot be run: %w", BinaryVariable, human.Quote(chosen), err).
			Hint("unset %s, or set it to the path of the claude program", BinaryVariable)
	}
	return "", fail.Errorf(fail.Unfit, "claude is not on the PATH (%s)", human.Quote(os.Getenv("PATH"))).
		Hint("install Claude Code, or name the program: export %s=/path/to/claude", BinaryVariable)
}
