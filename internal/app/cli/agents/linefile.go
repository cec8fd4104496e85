package agents

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// checkLineFile returns an error if the file is there and status-line did not write it: it is a person's, and to replace or to
// remove it would lose it.
func checkLineFile(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ours := false
	if info.Mode().IsRegular() {
		if ours, err = holdsLine(path); err != nil {
			return err
		}
	}
	if ours {
		return nil
	}
	return fail.Errorf(fail.Conflict, "%s exists, and status-line did not write it", human.Quote(path)).
		Hint("name another file, or move it aside: mv %[1]s %[1]s.aside", human.ShellWord(path))
}

// holdsLine reports whether a file holds one line of status-line, or nothing.
func holdsLine(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	const longest = 64 << 10 // of any line of ours
	text, err := io.ReadAll(io.LimitReader(file, longest+1))
	if err != nil {
		return false, err
	}
	own := regexp.MustCompile(`^((1 needs|[0-9]+ need) you: [^\n]+|[0-9]+ unknown)?\n?$`)
	return len(text) <= longest && own.Match(text), nil
}
