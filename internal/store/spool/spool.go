// Package spool holds the announcements of hooks to the memory, in .nbs/memory/spool: one small file for each
// end of a turn, because the conversation may have new text.
//
//   - A hook runs with the agent's rights, so an announcement is only a hint. The reader takes from it that a
//     conversation, which the record has, may have new text, and nothing more.
//   - An announcement may be lost: it is not synced, and not written while [most] others are unread. How far a
//     conversation was read is recorded in another place.
//   - A file is written whole or not at all. It is removed when its conversation was stored. The reader also
//     removes the half-written files of killed hooks.
//
// The package knows neither records nor transcripts.
package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
)

// Folder is where the memory keeps what is no database, below .nbs; the spool is a folder in it.
const (
	Folder = "memory"
	spool  = Folder + "/spool"
)

// most is the largest number of waiting announcements.
const most = 1000

const sizeLimit = 1 << 12 // bytes

// Announcement is the content of one announcement.
type Announcement struct {
	Handle     agent.Handle     `json:"handle"`
	Invocation agent.Invocation `json:"invocation"`
	SessionID  agent.SessionID  `json:"session_id"`
	Size       int64            `json:"size"` // of the transcript, bytes; 0: unknown
	At         time.Time        `json:"at"`

	name string
}

// Spool holds the announcements of one project.
type Spool struct {
	nbs  *private.Folder
	work private.Tree
}

// In returns the spool in the .nbs folder of a project; work is the user's empty folder in which observers work.
func In(nbs *private.Folder, work private.Tree) Spool { return Spool{nbs, work} }

// Work creates and returns the folder in which the claudes of observers work. It is empty, and outside of every
// project, whose files would be read as instructions. Errors: Unfit.
func (s Spool) Work() (path string, err error) { return string(s.work), s.work.Make() }

// WorksIn reports whether a folder is that of [Spool.Work]: a conversation in it is an observer's.
func (s Spool) WorksIn(path string) bool {
	at, err1 := os.Stat(path)
	work, err2 := os.Stat(string(s.work))
	return err1 == nil && err2 == nil && os.SameFile(at, work)
}

// Path returns the absolute path of the spool.
func (s Spool) Path() string { return s.nbs.Path(spool) }

// Put writes an announcement, unless too many wait.
func (s Spool) Put(a Announcement) error {
	names, err := s.names()
	if errors.Is(err, fs.ErrNotExist) {
		err = s.make()
	}
	if err != nil || len(names) >= most {
		return err
	}
	name := fmt.Sprintf("%020d-%d.json", a.At.UnixNano(), os.Getpid())
	return s.nbs.HandOver(spool, name, a, sizeLimit)
}

// make creates the folder and its parent.
func (s Spool) make() error {
	for _, name := range []string{Folder, spool} {
		if err := s.nbs.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return s.nbs.Remedied(err)
		}
	}
	return s.check()
}

// check refuses a link, a pipe or another file in place of the folders. It does not follow or open it. Errors:
// [fs.ErrNotExist].
func (s Spool) check() error {
	for _, name := range []string{Folder, spool} {
		path := s.nbs.Path(name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			return fail.Errorf(fail.BadInput, "%s is not a folder", human.Quote(path)).
				Hint("look at it, then move it aside: %s", private.MoveTo(path, ".foreign"))
		}
		if err := private.Check(path); err != nil {
			return err
		}
	}
	return nil
}

// List returns the announcements, oldest first. It removes any other file. Without a folder the list is empty.
func (s Spool) List() ([]Announcement, error) {
	names, err := s.names()
	if err != nil {
		return nil, private.IfThere(err)
	}
	s.nbs.Sweep(spool, time.Now(), func(name string, age time.Duration) bool { // to write one takes milliseconds
		return isHalf(name) && age > time.Minute
	})
	slices.Sort(names)
	all := make([]Announcement, 0, len(names))
	for _, name := range names {
		a := Announcement{name: name}
		if isHalf(name) {
			continue
		}
		data, err := s.nbs.Read(spool, name, sizeLimit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || json.Unmarshal(data, &a) != nil {
			if err := s.drop(name); err != nil {
				return nil, err
			}
			continue
		}
		all = append(all, a)
	}
	return all, nil
}

// isHalf reports whether a file is being written, or was when its writer was killed.
func isHalf(name string) bool { return strings.HasPrefix(name, ".") }

// Take removes announcements, once all that they announce is stored.
func (s Spool) Take(all ...Announcement) error {
	var errs []error
	for _, a := range all {
		errs = append(errs, s.drop(a.name))
	}
	return errors.Join(errs...)
}

func (s Spool) drop(name string) error {
	return s.nbs.In(spool, func(dir *os.Root) error {
		return s.nbs.Remedied(private.IfThere(dir.RemoveAll(name))) // a planted folder too
	})
}

// names returns the files, including half-written ones.
func (s Spool) names() ([]string, error) {
	if !s.nbs.Made() {
		return nil, fs.ErrNotExist
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.nbs.Names(spool)
}
