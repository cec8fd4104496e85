package chat

import (
	"os"
	"path/filepath"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// program returns the absolute path of the program that a flag names. Errors: BadInput.
func program(flag, named string) (string, error) {
	path, err := filepath.Abs(named)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0 {
		return "", fail.Errorf(fail.BadInput, "%s %s is not a program", flag, human.Quote(path)).Hint("give the path of an executable file")
	}
	return path, nil
}
