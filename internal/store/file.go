package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/smallfile"
)

// The sizes in bytes beyond which a file of ours is damaged. The kernel takes
// environments of a few megabytes.
const (
	fileLimit = 1 << 20
	// newRecordLimit is for a record in which nothing has happened yet. Twenty exits, with
	// last screens full of characters that JSON spells with six, have room in the rest.
	newRecordLimit = 400 << 10
	launchLimit    = 8 << 20
)

// writeJSON replaces sub/name atomically and durably. renameio syncs the file but
// not the folder; without the second sync a power cut can lose the rename.
func (s *Store) writeJSON(sub, name string, value any, limit int) error {
	data, err := encode(sub+"/"+name, value, limit)
	if err != nil {
		return err
	}
	return s.in(sub, func(dir *os.Root) error {
		err := renameio.WriteFile(name, data, 0o600, renameio.WithRoot(dir), renameio.WithStaticPermissions(0o600))
		if err != nil {
			return s.remedied(fmt.Errorf("write %s/%s: %w", sub, name, err))
		}
		if err := syncDir(dir); err != nil {
			return fmt.Errorf("%s/%s is written, but may not survive a power cut: %w", sub, name, err)
		}
		return nil
	})
}

// handOver replaces sub/name atomically, for a reader that ends with this boot: a power
// cut may lose it. The caller is the only writer.
func (s *Store) handOver(sub, name string, value any, limit int) error {
	data, err := encode(sub+"/"+name, value, limit)
	if err != nil {
		return err
	}
	return s.in(sub, func(dir *os.Root) error {
		if err := replace(dir, name, data); err != nil {
			return s.remedied(fmt.Errorf("write %s/%s: %w", sub, name, err))
		}
		return nil
	})
}

// replace writes a file under another name and renames it. What a writer that was
// killed left under that name is in nobody's way.
func replace(dir *os.Root, name string, data []byte) error {
	temp := "." + name
	if err := dir.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := dir.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

// remove deletes sub/name durably. Errors: [fs.ErrNotExist].
func (s *Store) remove(sub, name string) error {
	return s.in(sub, func(dir *os.Root) error {
		if err := dir.Remove(name); err != nil {
			return s.remedied(err)
		}
		return syncDir(dir)
	})
}

// in changes something in a folder of .nbs.
func (s *Store) in(sub string, change func(dir *os.Root) error) error {
	dir, err := s.nbs.OpenRoot(sub)
	if err != nil {
		return err
	}
	defer dir.Close()
	return change(dir)
}

func encode(name string, value any, limit int) ([]byte, error) {
	data, err := json.MarshalIndent(value, "", "  ")
	if err == nil && len(data) >= limit {
		err = agent.Errorf(agent.BadInput, "%s would have %d bytes, the limit is %d", name, len(data), limit)
	}
	return append(data, '\n'), err
}

// remedied adds to an error of the disk what can be done about it.
func (s *Store) remedied(err error) error { return remediedAt(filepath.Join(s.project, folder), err) }

func remediedAt(folder string, err error) error {
	at := shellWord(folder)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return agent.Errorf(agent.Failed, "%w", err).Hint("make room there, then repeat the command: df -h %s", at)
	case errors.Is(err, syscall.EROFS):
		return agent.Errorf(agent.Failed, "%w", err).Hint("make it writable, then repeat the command; it is mounted here: findmnt -T %s", at)
	}
	return err
}

// open opens a folder of .nbs for reading files in it.
func (s *Store) open(sub string) (smallfile.Dir, error) {
	if s.dir == nil {
		return smallfile.Dir{}, fs.ErrNotExist
	}
	return smallfile.OpenDir(s.dir, sub)
}

// read reads sub/name, at most limit bytes. Errors: those of view.
func (s *Store) read(sub, name string, limit int) (data []byte, err error) {
	dir, err := s.open(sub)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	err = s.view(dir, sub, name, limit, func(seen []byte) error {
		data = bytes.Clone(seen)
		return nil
	})
	return data, err
}

// view shows a file of an open folder, until look returns. Errors: BadInput for a file that
// somebody else could have written.
func (s *Store) view(dir smallfile.Dir, sub, name string, limit int, look func(data []byte) error) error {
	err := dir.ViewOwn(name, limit, look)
	if err == nil {
		return nil
	}
	if others, ok := errors.AsType[*smallfile.ForeignError](err); ok {
		return foreign(filepath.Join(s.project, folder, sub, name), others.UID, others.Mode)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrNotExist) {
		return at.Err // what reads a file names it
	}
	return err
}

// openRegular opens a file of .nbs and no link to one: [os.Root] follows those that
// stay inside. Looking before opening keeps a planted FIFO from blocking us for ever.
func (s *Store) openRegular(path string, flag int) (*os.File, error) {
	info, err := s.nbs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
		return s.nbs.OpenFile(path, flag|os.O_EXCL, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, smallfile.ErrIrregular
	}
	return s.nbs.OpenFile(path, flag|syscall.O_NONBLOCK, 0o600)
}

// nestingLimit is how deep a record may be nested; our own has four levels. An unknown
// field is indented when it is written again, and 5,000 brackets make 50 MB then.
const nestingLimit = 100

// tooDeep tells whether a JSON text is nested deeper than that. Few brackets, as in nearly
// all records, need no closer look.
func tooDeep(data []byte) bool {
	brackets := bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'{'})
	return brackets > nestingLimit && nesting(data) > nestingLimit
}

// nesting is how deep the brackets of a JSON text are nested.
func nesting(data []byte) int {
	deepest, depth, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
