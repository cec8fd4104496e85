package archive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

// A second name keeps a transcript that is deleted, but not one that is cut off in place: both names are the
// same file. So a mark records, apart from the transcript, how long it was and how it ended.

// mark is how far a transcript was written when it was last looked at.
type mark struct {
	Size int64       `json:"size,omitempty"` // bytes
	Head private.Sum `json:"head,omitempty"` // SHA-256 of the first of them
	Tail private.Sum `json:"tail,omitempty"` // SHA-256 of the last of them
}

// headLength and tailLengthOfMark are how much of a transcript a mark is made of, in bytes.
// Claude's records carry ids and times: no two ends are alike.
const (
	headLength       = 1 << 10
	tailLengthOfMark = 4 << 10
)

func markAt(f io.ReaderAt, size int64) (mark, error) {
	head, tail := make([]byte, min(size, headLength)), make([]byte, min(size, tailLengthOfMark))
	if _, err := f.ReadAt(head, 0); err != nil {
		return mark{}, err
	}
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return mark{}, err
	}
	return mark{Size: size, Head: private.SumOf(head), Tail: private.SumOf(tail)}, nil
}

// stands reports whether all that the mark remembers is in the file.
func (m mark) stands(f *private.OwnFile) (bool, error) {
	if m.Size == 0 {
		return true, nil
	}
	if f.Seen.Size < m.Size {
		return false, nil
	}
	now, err := markAt(f, m.Size)
	return err == nil && now == m, err
}

// beginsAlike reports whether the file begins as the mark records, for the length of the file.
func (m mark) beginsAlike(f *private.OwnFile) (bool, error) {
	length := min(m.Size, headLength)
	if f.Seen.Size < length {
		return true, nil
	}
	head := make([]byte, length)
	_, err := f.ReadAt(head, 0)
	return err == nil && private.SumOf(head) == m.Head, err
}

// remark moves the mark of a transcript to its present end. A transcript that was cut off keeps its mark,
// until [Archive.Accept].
func (a *Archive) remark(ctx context.Context, id agent.SessionID, source *private.OwnFile) error {
	if grew, err := a.grew(id, source); err != nil || !grew {
		return err
	}
	unlock, err := a.kept.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	// Check again: the last holder of the lock may have looked later, and its mark must not get an earlier one.
	if grew, err := a.grew(id, source); err != nil || !grew {
		return err
	}
	return a.noteOrigin(id, source)
}

// grew reports whether a transcript continues after its mark.
func (a *Archive) grew(id agent.SessionID, source *private.OwnFile) (bool, error) {
	from := a.originOf(id)
	if from.Size == source.Seen.Size {
		return false, nil
	}
	return from.stands(source)
}

// CutOff describes damage to a transcript in place.
type CutOff struct {
	Missing   int64 // bytes, at least
	Rewritten bool  // it has other content than before
}

// CutOff returns what was cut off the transcript at path, if that file is the kept one; nil if nothing is
// missing.
func (a *Archive) CutOff(id agent.SessionID, path string) (*CutOff, error) {
	source, err := private.OpenOwn(nil, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer source.Close()
	from := a.originOf(id)
	stands, err := from.stands(source)
	if err != nil || stands || !a.isKept(id, source) {
		return nil, err
	}
	alike, err := from.beginsAlike(source)
	return &CutOff{Missing: max(0, from.Size-source.Seen.Size), Rewritten: !alike || source.Seen.Size >= from.Size}, err
}

// MarkFile returns the file that remembers how far the transcript of a conversation was
// written.
func (a *Archive) MarkFile(id agent.SessionID) string {
	return a.kept.Path(originFile(id))
}

// Accept sets the mark to the transcript's present end: the user accepts that what was cut off is lost.
func (a *Archive) Accept(ctx context.Context, id agent.SessionID, path string) error {
	source, err := private.OpenOwn(nil, path)
	if err != nil {
		return err
	}
	defer source.Close()
	unlock, err := a.kept.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return a.noteOrigin(id, source)
}

// begins reports whether one file is a strict beginning of another.
func begins(longer, shorter *private.OwnFile) (bool, error) {
	size := shorter.Seen.Size
	if size >= longer.Seen.Size {
		return false, nil
	}
	ours, theirs := io.NewSectionReader(longer, 0, size), io.NewSectionReader(shorter, 0, size)
	const piece = 256 << 10 // bytes
	a, b := make([]byte, piece), make([]byte, piece)
	for {
		n, err := io.ReadFull(ours, a)
		m, err2 := io.ReadFull(theirs, b)
		if !bytes.Equal(a[:n], b[:m]) {
			return false, nil
		}
		for _, err := range []error{err, err2} {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return true, nil
			}
			if err != nil {
				return false, &os.PathError{Op: "read", Path: longer.Name(), Err: err}
			}
		}
	}
}
