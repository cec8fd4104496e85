package store

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/parallel"
	"nbs-worker/internal/platform/smallfile"
)

// Records reads many records.
type Records struct {
	store *Store
	dir   smallfile.Dir
	none  bool
	read  *atomic.Int64 // bytes, of all records that were read
}

// recordsLimit is how much is read of all records of a project together, in bytes: what is
// read of a thousand usual ones is 3 MB, and a clone may bring any number of the largest.
const recordsLimit = 64 << 20

// Records opens the folder of the records.
func (s *Store) Records() (Records, error) {
	dir, err := s.nbs.Files(sessions)
	if errors.Is(err, fs.ErrNotExist) {
		return Records{store: s, none: true}, nil
	}
	return Records{store: s, dir: dir, read: new(atomic.Int64)}, err
}

// Close closes the folder.
func (r Records) Close() error {
	if r.none {
		return nil
	}
	return r.dir.Close()
}

// Handles is [Store.Handles].
func (r Records) Handles() ([]agent.Handle, error) {
	if r.none {
		return nil, nil
	}
	names, err := r.dir.Names()
	if err != nil {
		return nil, err
	}
	handles := make([]agent.Handle, 0, len(names))
	for _, name := range names {
		stem, isRecord := strings.CutSuffix(name, ".json")
		if handle, err := agent.ParseHandle(stem); isRecord && err == nil {
			handles = append(handles, handle)
		}
	}
	slices.Sort(handles)
	return handles, nil
}

// EachWith shows, one after the other in the order of their handles, the records that can be read and whose text
// has one of the words: a number, an id or a name of ours. Most records have none of them, and are not parsed.
func (r Records) EachWith(words []string, show func(*agent.Record)) error {
	handles, err := r.Handles()
	if err != nil {
		return err
	}
	wanted := func(text []byte) bool {
		return slices.ContainsFunc(words, func(word string) bool { return holdsWord(text, word) })
	}
	found := make([]*agent.Record, len(handles))
	parallel.Each(len(handles), func(i int) {
		var record agent.Record
		if r.loadIf(wanted, handles[i], &record) == nil && record.Handle != "" {
			found[i] = &record
		}
	})
	for _, record := range found {
		if record != nil {
			show(record)
		}
	}
	return nil
}

// holdsWord reports whether a word stands in a text, and not within a longer one: the start of a process that
// came up with the machine is a number of two digits, which is part of some number in every record.
func holdsWord(text []byte, word string) bool {
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], []byte(word))
		if i < 0 {
			return false
		}
		at += i
		end := at + len(word)
		if (at == 0 || !isWordByte(text[at-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
	}
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// Load is [Store.Load], into a record of the caller's, which is empty after an error. It is safe
// for concurrent use.
func (r Records) Load(handle agent.Handle, into *agent.Record) error {
	return r.loadIf(func([]byte) bool { return true }, handle, into)
}

// loadIf is Load of a record whose text is wanted; it leaves into empty for any other.
func (r Records) loadIf(wanted func(text []byte) bool, handle agent.Handle, into *agent.Record) (damage error) {
	s := r.store
	*into = agent.Record{}
	if r.none {
		return s.absent(handle)
	}
	name := handle
	if r.read.Load() > recordsLimit {
		return s.tooMuch(name)
	}
	look := func(data []byte) error {
		r.read.Add(int64(len(data)))
		if !wanted(data) {
			return nil
		}
		if damage = s.understand(name, data, into); damage != nil {
			*into = agent.Record{}
		}
		return nil
	}
	err := s.nbs.View(r.dir, sessions, recordFile(name), fileLimit, look)
	if errors.Is(err, fs.ErrNotExist) {
		if name, err = s.spelling(handle); err != nil {
			return err
		}
		err = s.nbs.View(r.dir, sessions, recordFile(name), fileLimit, look)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was removed this moment
		return s.absent(handle)
	case fail.KindOf(err) == fail.BadInput:
		return err // not damaged: others could have written it
	case errors.Is(err, smallfile.ErrIrregular), errors.Is(err, smallfile.TooLargeError(fileLimit)):
		return s.damaged(name, err)
	case err != nil: // such as too many open files, which passes
		return fail.Errorf(fail.Failed, "read the record %s: %w", human.Quote(s.absolute(name)), err)
	}
	return damage
}
