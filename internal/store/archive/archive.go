// Package archive keeps the transcripts of conversations, outside of every project: Claude deletes
// its own after some weeks.
//
// Each conversation of an agent has a second name in the archive, <session-id>.jsonl: a hard link,
// which grows with the original and costs no room, or a copy where the original is on another file
// system. Claude 2.1.197 and 2.1.329 only ever append to a transcript, in /compact, rewind and
// resume too, and so a link keeps all of it. Beside it, <session-id>.json says in which of Claude's
// folders the original was, and how far it was written (mark.go).
//
//   - A file that takes the place of the original and does not go on where ours ends is kept besides: ours
//     is set aside as <session-id>.<n>.jsonl. A mere beginning of ours is not kept: ours has all of it.
//   - A look that finds all as it was takes no lock. A change is made under one lock of the archive,
//     a file beside it; who holds it takes no other.
//   - The archive is one of all projects of the user. What it has of a conversation is removed for
//     an agent that had it, and never because no record names it: other projects have records too.
//   - Nothing is synced but a first copy: the original is there when it is made, and the next look
//     makes again what a power cut took. What is put back is synced.
//   - Who puts a transcript back holds the lease of the conversation. What is at that path is never
//     replaced, and nothing is put back from a project: anybody may have written what lies there.
//
// The package knows of transcripts only that they are appended to, and nothing of what is in them.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
)

const (
	asideLimit  = 100     // transcripts of one conversation that are set aside
	originLimit = 4 << 10 // bytes
)

// Archive is that of the user.
type Archive struct{ kept private.Tree }

// In is the archive in a folder of the user's.
func In(kept private.Tree) *Archive { return &Archive{kept: kept} }

// Keep gives the transcript at path, of this conversation, its second name, or
// brings a copy up to date. It costs a few system calls when there is nothing to do.
// Errors: [fs.ErrNotExist] when there is none; BadInput for what is no transcript of ours.
func (a *Archive) Keep(ctx context.Context, id agent.SessionID, path string) error {
	if err := checkTranscriptName(id, path); err != nil {
		return err
	}
	source, err := private.OpenOwn(nil, path)
	if err != nil {
		return err
	}
	defer source.Close()
	if a.isKept(id, source) {
		return a.remark(ctx, id, source)
	}
	unlock, err := a.kept.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := a.keepLocked(id, source); err != nil {
		return a.kept.Remedied(fmt.Errorf("keep the transcript of %s: %w", id, err))
	}
	return nil
}

// checkTranscriptName refuses a path that is not that of the conversation: it may come from
// a hook's input.
func checkTranscriptName(id agent.SessionID, path string) error {
	if _, err := agent.ParseSessionID(string(id)); err != nil {
		return err
	}
	if !filepath.IsAbs(path) || filepath.Base(path) != transcriptFile(id) {
		return fail.Errorf(fail.BadInput, "%s is no transcript of %s", human.Quote(path), id)
	}
	return nil
}

// isKept tells, by two stats, whether there is nothing to do.
func (a *Archive) isKept(id agent.SessionID, source *private.OwnFile) bool {
	kept, err := a.kept.Stat(transcriptFile(id))
	return err == nil && kept.Mode&unix.S_IFMT == unix.S_IFREG && upToDate(&kept, &source.Seen)
}

// upToDate reports whether a kept transcript is the original, or as the original is.
func upToDate(kept, original *unix.Stat_t) bool {
	return sameFile(kept, original) || kept.Size == original.Size && kept.Mtim == original.Mtim
}

func sameFile(a, b *unix.Stat_t) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// keepLocked is Keep when there is something to do. The caller holds the lock.
func (a *Archive) keepLocked(id agent.SessionID, source *private.OwnFile) error {
	return a.kept.In(func(_ *os.Root, dir *os.File) error {
		at := keeper{dir: dir, id: id}
		kept, err := private.OpenOwn(dir, transcriptFile(id))
		if errors.Is(err, fs.ErrNotExist) {
			return errors.Join(a.noteOrigin(id, source), at.put(source))
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
		return errors.Join(a.noteOrigin(id, source), at.update(kept, source))
	})
}

// noteOrigin writes down where the original is, before there is anything to put back, and how
// far it was written.
func (a *Archive) noteOrigin(id agent.SessionID, source *private.OwnFile) error {
	at, err := markAt(source, source.Seen.Size)
	if err != nil {
		return err
	}
	from := origin{Folder: filepath.Base(filepath.Dir(source.Name())), Path: source.Name(), mark: at}
	if a.originOf(id) == from {
		return nil
	}
	return a.kept.HandOver(originFile(id), from, originLimit)
}

// HasLink reports whether what is kept of a conversation has another name too: the original.
func (a *Archive) HasLink(id agent.SessionID) bool {
	kept, err := a.kept.Stat(transcriptFile(id))
	return err == nil && kept.Nlink > 1
}
