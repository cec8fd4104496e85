package chat

import (
	"os"
	"path/filepath"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// contextProgram returns the absolute path of the --context-cmd program. Errors: BadInput.
func contextProgram(named string) (string, error) {
	path, err := filepath.Abs(named)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0 {
		return "", fail.Errorf(fail.BadInput, "--context-cmd %s is not a program", human.Quote(path)).Hint("give the path of an executable file")
	}
	return path, nil
}
