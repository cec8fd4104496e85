// Package spool holds what the hooks of agents announce to the memory: that a conversation may have something
// new, one small file for each end of a turn, in .nbs/memory/spool.
//
//   - A hook runs among what the agent runs, so an announcement is a hint and no authority: whoever reads it
//     believes from it only that a conversation, which the record has, is worth a look.
//   - It may be lost: it is not synced, and not written while [most] others are unread. How far a conversation was
//     read is kept elsewhere.
//   - A file is there as a whole or not at all, and is removed when what it announces was stored. What a killed hook
//     has left half written is removed by the reader of the others.
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

// most is how many announcements wait at most.
const most = 1000

const sizeLimit = 1 << 12 // bytes

// Announcement is what a hook has announced.
type Announcement struct {
	Handle     agent.Handle     `json:"handle"`
	Invocation agent.Invocation `json:"invocation"`
	SessionID  agent.SessionID  `json:"session_id"`
	Size       int64            `json:"size"` // of the transcript, bytes; 0: unknown
	At         time.Time        `json:"at"`

	name string
}

// Spool is that of one project.
type Spool struct {
	nbs  *private.Folder
	work private.Tree
}

// In is the spool in the .nbs folder of a project, and the empty folder of the user's in which observers work.
func In(nbs *private.Folder, work private.Tree) Spool { return Spool{nbs, work} }

// Work is the folder in which the claudes of observers work: it is empty, and outside of every project, whose files
// would be read as instructions. Errors: Unfit.
func (s Spool) Work() (path string, err error) { return string(s.work), s.work.Make() }

// WorksIn reports whether a folder is that of [Spool.Work]: a conversation that was held there is an observer's.
func (s Spool) WorksIn(path string) bool {
	at, err1 := os.Stat(path)
	work, err2 := os.Stat(string(s.work))
	return err1 == nil && err2 == nil && os.SameFile(at, work)
}

// Path is the absolute path of the spool.
func (s Spool) Path() string { return s.nbs.Path(spool) }

// Put writes an announcement. Where too many wait, it is not written.
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

// make makes the folder, and that around it.
func (s Spool) make() error {
	for _, name := range []string{Folder, spool} {
		if err := s.nbs.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return s.nbs.Remedied(err)
		}
	}
	return s.check()
}

// check refuses what somebody has put in the place of the folders: it is not followed, nor waited for. Errors:
// [fs.ErrNotExist].
func (s Spool) check() error {
	for _, name := range []string{Folder, spool} {
		path := s.nbs.Path(name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			return fail.Errorf(fail.BadInput, "%s is not a folder", human.Quote(path)).
				Hint("look at what it is, then move it away: %s", private.MoveTo(path, ".foreign"))
		}
		if err := private.Check(path); err != nil {
			return err
		}
	}
	return nil
}

// List are the announcements, oldest first. A file that is none is removed; without a folder there are none.
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

// Take removes announcements. All that they have announced is stored.
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

// names are the files, also those that are not whole.
func (s Spool) names() ([]string, error) {
	if !s.nbs.Made() {
		return nil, fs.ErrNotExist
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.nbs.Names(spool)
}
