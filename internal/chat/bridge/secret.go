package bridge

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// ReadSecret reads a secret from a file, or from a variable of the environment when file is empty. where names it.
// Errors: NotFound, BadInput.
func ReadSecret(what, file, variable string) (text, where string, err error) {
	if file == "" {
		return strings.TrimSpace(os.Getenv(variable)), "variable " + variable, nil
	}
	data, err := readOwn(what, file)
	return strings.TrimSpace(string(data)), "file " + human.Quote(file), err
}

// readOwn reads a file with a secret. It does not check the mode of another user's file (root's, in a container).
func readOwn(what, file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail.Errorf(fail.NotFound, "read %s: %w", what, err)
	case err != nil:
		return nil, fail.Errorf(fail.Failed, "read %s: %w", what, err)
	case !info.Mode().IsRegular():
		return nil, fail.Errorf(fail.BadInput, "read %s: %s is not a regular file", what, human.Quote(file))
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 != 0 {
		return nil, fail.Errorf(fail.BadInput, "read %s: other users can read or write %s: its mode is %04o", what, human.Quote(file), info.Mode().Perm()).
			Hint("chmod 600 %s", human.ShellWord(file))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fail.Errorf(fail.Failed, "read %s: %w", what, err)
	}
	return data, nil
}
