package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/google/renameio/v2"

	"nbs-worker/internal/platform/smallfile"
)

const (
	ignoreFile  = ".gitignore"
	ignoreAll   = "*"
	ignoreLimit = 1 << 20 // bytes
)

// IgnoreItself makes git ignore all of .nbs: a record holds prompts and screens. The last line of this list overrides
// all lists that git reads. So the list is written whatever a clone has put in its place, even a link, which git
// would not read. Errors: those of writing.
func (s *Store) IgnoreItself() error {
	text, err := s.readIgnored()
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	if err == nil && lines[len(lines)-1] == ignoreAll {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, smallfile.ErrIrregular) {
		return err
	}
	if text != "" {
		text += "\n"
	}
	return renameio.WriteFile(ignoreFile, []byte(text+ignoreAll+"\n"), 0o600, renameio.WithRoot(s.nbs.Root), renameio.WithStaticPermissions(0o600))
}

// readIgnored reads the list. Errors: [fs.ErrNotExist], [smallfile.ErrIrregular].
func (s *Store) readIgnored() (string, error) {
	f, err := s.nbs.OpenRegular(ignoreFile, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, ignoreLimit))
	return string(text), err
}
