package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

// Claude deletes transcripts after some weeks. Each conversation of an agent has a second
// name in the archive, <session-id>.jsonl: a hard link, which grows with the original and
// costs no room, or a copy where the original is on another file system. Claude 2.1.197
// and 2.1.329 only ever append to a transcript, in /compact, rewind and resume too, and so a
// link keeps all of it. Beside it, <session-id>.json says in which of Claude's folders the
// original was.
//
// What takes the place of the original and does not go on where ours ends is kept besides:
// ours is set aside as <session-id>.<n>.jsonl. A mere beginning of ours is not kept: ours has
// all of it. A look that finds all as it was takes no lock; a change is made under one lock
// of the archive.
//
// The archive is one of all projects of the user. What it has of a conversation is removed
// for an agent that had it, and never because no record names it: other projects have records
// too.
//
// Nothing here is synced but a first copy: the original is there when it is made, and the
// next look makes again what a power cut took.

const (
	asideLimit  = 100     // transcripts of one conversation that are set aside
	originLimit = 4 << 10 // bytes
)

// shelf is a folder with kept transcripts.
type shelf struct{ private.Tree }

// Kept is what the archive has of a conversation.
type Kept struct {
	Path     string // absolute
	Folder   string // name of the folder in which the original was; "" unknown
	Original string // absolute path of the original; "" unknown
	Size     int64  // bytes
	Modified time.Time
	stat     unix.Stat_t
}

// origin is the file beside a kept transcript.
type origin struct {
	Folder string `json:"folder"`
	Path   string `json:"path"`
	mark
}

// KeepTranscript gives the transcript at path, of this conversation, its second name, or
// brings a copy up to date. It costs a few system calls when there is nothing to do.
// Errors: [fs.ErrNotExist] when there is none; BadInput for what is no transcript of ours.
func (s *Store) KeepTranscript(ctx context.Context, id agent.SessionID, path string) error {
	if err := checkTranscriptName(id, path); err != nil {
		return err
	}
	source, err := private.OpenOwn(unix.AT_FDCWD, path)
	if err != nil {
		return err
	}
	defer source.Close()
	if s.isKept(id, source) {
		return s.remark(ctx, id, source)
	}
	unlock, err := s.lockArchive(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.keepLocked(id, source); err != nil {
		return s.archive().Remedied(fmt.Errorf("keep the transcript of %s: %w", id, err))
	}
	return nil
}

// lockArchive takes the lock under which what is kept changes.
func (s *Store) lockArchive(ctx context.Context) (unlock func(), err error) {
	return s.archive().Lock(ctx)
}

// checkTranscriptName refuses a path that is not that of the conversation: it may come from
// a hook's input.
func checkTranscriptName(id agent.SessionID, path string) error {
	if _, err := agent.ParseSessionID(string(id)); err != nil {
		return err
	}
	if !filepath.IsAbs(path) || filepath.Base(path) != transcriptFile(id) {
		return agent.Errorf(agent.BadInput, "%s is no transcript of %s", agent.Quote(path), id)
	}
	return nil
}

// isKept tells, by two looks, whether there is nothing to do.
func (s *Store) isKept(id agent.SessionID, source *private.OwnFile) bool {
	kept, err := s.archive().Stat(transcriptFile(id))
	return err == nil && kept.Mode&unix.S_IFMT == unix.S_IFREG && upToDate(&kept, &source.Seen)
}

// upToDate tells whether a kept transcript is the original, or as the original is.
func upToDate(kept, original *unix.Stat_t) bool {
	return sameFile(kept, original) || kept.Size == original.Size && kept.Mtim == original.Mtim
}

func sameFile(a, b *unix.Stat_t) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// keepLocked is a keep that has something to do. The caller holds the lock.
func (s *Store) keepLocked(id agent.SessionID, source *private.OwnFile) error {
	return s.archive().In(func(_ *os.Root, dir *os.File) error {
		at := keeper{dir: dir, id: id}
		kept, err := private.OpenOwn(int(dir.Fd()), transcriptFile(id))
		if errors.Is(err, fs.ErrNotExist) {
			return errors.Join(s.noteOrigin(id, source), at.put(source))
		}
		if err != nil {
			return err
		}
		defer kept.Close()
		if source.Seen.Size < kept.Seen.Size {
			shortened, err := begins(kept, source)
			if err != nil || shortened {
				return err
			}
		}
		return errors.Join(s.noteOrigin(id, source), at.update(kept, source))
	})
}

// noteOrigin writes down where the original is, before there is anything to put back, and how
// far it was written.
func (s *Store) noteOrigin(id agent.SessionID, source *private.OwnFile) error {
	at, err := markAt(source, source.Seen.Size)
	if err != nil {
		return err
	}
	from := origin{Folder: filepath.Base(filepath.Dir(source.Name())), Path: source.Name(), mark: at}
	if s.originOf(id) == from {
		return nil
	}
	return s.archive().HandOver(originFile(id), from, originLimit)
}

// originOf is where a conversation's transcript was; empty when that is not known.
func (s *Store) originOf(id agent.SessionID) origin { return s.archive().originOf(id) }

func (t shelf) originOf(id agent.SessionID) origin {
	data, err := t.Read(originFile(id), originLimit)
	if err != nil {
		return origin{}
	}
	var from origin
	if json.Unmarshal(data, &from) != nil || !isElement(from.Folder) || agent.CheckPath("path", from.Path) != nil || from.Size < 0 {
		return origin{}
	}
	return from
}

// isElement tells whether a name is that of a folder and leads nowhere else.
func isElement(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= unix.NAME_MAX && !strings.ContainsAny(name, "/\x00")
}

// Kept lists what there is of a conversation: first what has its name, then what was set
// aside, largest first. Errors: BadInput for what somebody else put there.
func (s *Store) Kept(id agent.SessionID) ([]Kept, error) {
	return s.archive().kept(id, numberedOf)
}

// kept lists what a folder has of a conversation, by the names that are looked for.
func (t shelf) kept(id agent.SessionID, namesOf func(dir *os.File, id agent.SessionID) ([]string, error)) ([]Kept, error) {
	dir, err := t.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := namesOf(dir, id)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var all []Kept
	from := t.originOf(id)
	for _, name := range names {
		f, err := private.OpenOwn(int(dir.Fd()), name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Kept{Path: t.Path(name), Folder: from.Folder, Original: from.Path, Size: f.Seen.Size, Modified: time.Unix(f.Seen.Mtim.Unix()), stat: f.Seen})
		_ = f.Close()
	}
	slices.SortStableFunc(all, func(a, b Kept) int {
		return cmpKept(a, b, transcriptFile(id))
	})
	return all, nil
}

// numberedOf looks for the files of a conversation by the names that they get, one after the
// other: in the archive are those of all projects, and to list them takes its time.
func numberedOf(dir *os.File, id agent.SessionID) (names []string, err error) {
	for n := 0; n <= asideLimit; n++ {
		name := transcriptFile(id)
		if n > 0 {
			name = asideFile(id, n)
		}
		var stat unix.Stat_t
		err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
		switch {
		case err == nil:
			names = append(names, name)
		case !errors.Is(err, unix.ENOENT):
			return nil, &os.PathError{Op: "stat", Path: name, Err: err}
		case n > 0:
			return names, nil
		}
	}
	return names, nil
}

// RemoveTranscript removes what is kept of a conversation.
func (s *Store) RemoveTranscript(id agent.SessionID) error {
	return s.archive().forget(id, numberedOf)
}

func (t shelf) forget(id agent.SessionID, namesOf func(dir *os.File, id agent.SessionID) ([]string, error)) error {
	dir, err := t.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := namesOf(dir, id)
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	return t.Remove(append(names, "."+transcriptFile(id), originFile(id))...)
}

func transcriptFile(id agent.SessionID) string { return string(id) + ".jsonl" }

func originFile(id agent.SessionID) string { return string(id) + ".json" }

func asideFile(id agent.SessionID, n int) string {
	return string(id) + "." + strconv.Itoa(n) + ".jsonl"
}

// InPlace tells whether the original is where it was.
func (k Kept) InPlace() bool {
	original, there := statOf(k.Original)
	return there && sameFile(&original, &k.stat)
}

// HasLink tells whether what is kept of a conversation has another name too: the original.
func (s *Store) HasLink(id agent.SessionID) bool {
	kept, err := s.archive().Stat(transcriptFile(id))
	return err == nil && kept.Nlink > 1
}
