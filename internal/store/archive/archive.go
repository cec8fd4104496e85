// Package archive keeps the transcripts of conversations, outside of every project: Claude deletes
// its own after some weeks.
//
// Each conversation of an agent has a second name in the archive, <session-id>.jsonl: a hard link,
// which grows with the original and costs no room, or a copy if the original is on another file
// system. Claude 2.1.197 and 2.1.329 only ever append to a transcript, in /compact, rewind and
// resume too, so a link keeps all of it. Beside it, <session-id>.json records in which of Claude's
// folders the original was, and how long it was (mark.go).
//
//   - If another file takes the original's place and does not continue the kept transcript, the kept
//     one is set aside as <session-id>.<n>.jsonl. A file that is only a beginning of the kept
//     transcript is not kept: the archive has all of it.
//   - A check that finds no change takes no lock. A change is made under one lock of the archive,
//     a file beside it; its holder takes no other lock.
//   - All projects of the user share the archive. A transcript is removed only for an agent that had
//     the conversation, never because no record names it: other projects have records too.
//   - Only a first copy is synced: the original exists at that time, and the next check repeats what
//     a power cut lost. A restored file is synced.
//   - The process that restores a transcript holds the lease of the conversation. An existing file is
//     never replaced. Nothing is restored from a project: others could have written its files.
//
// The package knows of transcripts only that they are appended to, and nothing of their content.
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

// Archive is the user's archive.
type Archive struct{ kept private.Tree }

// In returns the archive in a folder of the user.
func In(kept private.Tree) *Archive { return &Archive{kept: kept} }

// Keep links or copies the transcript at path into the archive, or brings the copy up to date. It costs a few
// system calls if nothing is to be done. Errors: [fs.ErrNotExist] when there is no transcript; BadInput for a
// file that is not the user's transcript.
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

// checkTranscriptName refuses a path that is not the conversation's: it may come from a hook's input.
func checkTranscriptName(id agent.SessionID, path string) error {
	if _, err := agent.ParseSessionID(string(id)); err != nil {
		return err
	}
	if !filepath.IsAbs(path) || filepath.Base(path) != transcriptFile(id) {
		return fail.Errorf(fail.BadInput, "%s is not the transcript of %s", human.Quote(path), id)
	}
	return nil
}

// isKept reports, after two stats, whether nothing is to be done.
func (a *Archive) isKept(id agent.SessionID, source *private.OwnFile) bool {
	kept, err := a.kept.Stat(transcriptFile(id))
	return err == nil && kept.Mode&unix.S_IFMT == unix.S_IFREG && upToDate(&kept, &source.Seen)
}

// upToDate reports whether a kept transcript is the original, or a current copy of it.
func upToDate(kept, original *unix.Stat_t) bool {
	return sameFile(kept, original) || kept.Size == original.Size && kept.Mtim == original.Mtim
}

func sameFile(a, b *unix.Stat_t) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// keepLocked is Keep if something is to be done. The caller holds the lock.
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

// noteOrigin records the original's place and length, before there is a file to restore.
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

// HasLink reports whether a kept transcript has another name too, that of the original.
func (a *Archive) HasLink(id agent.SessionID) bool {
	kept, err := a.kept.Stat(transcriptFile(id))
	return err == nil && kept.Nlink > 1
}
