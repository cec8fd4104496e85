package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"nbs-worker/internal/store/private"
)

// Tail reads the journal, and later what was appended since.
type Tail struct {
	journal *Journal
	file    *os.File // nil: not there yet
	at      int64    // offset behind the last line that was read
	last    lastLine
}

// lastLine is the line that was read last. If the journal no longer has it at its place, the journal was replaced.
type lastLine struct {
	at  int64
	sum private.Sum
}

// Tail begins at the journal's first line.
func (j *Journal) Tail() *Tail { return &Tail{journal: j} }

// Close ends the reading.
func (t *Tail) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// Path returns the file to watch for what is appended.
func (t *Tail) Path() string { return t.journal.Path() }

// Read calls visit with each new event, until visit returns an error. It skips lines that are no events. A line that
// is being written is left for the next call. If the journal was cut or replaced, Read calls began and reads it from
// its beginning.
func (t *Tail) Read(visit func(Event) error, began func()) error {
	begun := t.at > 0
	if err := t.reopen(); err != nil {
		return fmt.Errorf("open %s: %w", t.journal.nbs.Label(fileName), err)
	}
	if t.file == nil {
		return nil
	}
	if err := t.checkLast(); err != nil {
		return fmt.Errorf("read %s: %w", t.journal.nbs.Label(fileName), err)
	}
	if begun && t.at == 0 {
		began()
	}
	if _, err := t.file.Seek(t.at, io.SeekStart); err != nil {
		return err
	}
	lines := readFrom(t.file, chain{}, t.at)
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) || err == nil && !line.whole && line.kind == torn {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", t.journal.nbs.Label(fileName), err)
		}
		t.last = lastLine{at: t.at, sum: line.sum}
		t.at = line.end
		if line.kind == torn {
			continue
		}
		if err := visit(line.Event); err != nil {
			return err
		}
	}
}

// checkLast restarts from the beginning if the line that was read last is no longer there.
func (t *Tail) checkLast() error {
	if t.at == 0 {
		return nil
	}
	lines := readFrom(io.NewSectionReader(t.file, t.last.at, t.at-t.last.at), chain{}, t.last.at)
	line, err := lines.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err != nil || line.end != t.at || line.sum != t.last.sum {
		t.at = 0
	}
	return nil
}

func (t *Tail) reopen() error {
	if t.file != nil {
		there, err := t.journal.nbs.Lstat(fileName)
		mine, statErr := t.file.Stat()
		if err != nil || statErr != nil || os.SameFile(there, mine) {
			return statErr // a journal that was moved aside is read until a new one exists
		}
	}
	file, err := t.journal.nbs.OpenRegular(fileName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = t.Close()
	t.file, t.at = file, 0
	return err
}
