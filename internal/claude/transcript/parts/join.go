package parts

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"nbs-worker/internal/claude/transcript"

	"github.com/google/renameio/v2"
)

// Has reports whether a transcript has all records of another one: the other may be the same file, the beginning of this
// one, or this one with records missing anywhere.
func Has(t, other transcript.File) (bool, error) {
	mine, theirs, closeBoth, err := openBoth(t, other)
	if err != nil {
		return false, err
	}
	defer closeBoth()
	if same, err := beginsWith(mine, theirs); err != nil || same {
		return same, err
	}
	wanted, err := recordIDs(theirs)
	if err != nil || len(wanted) == 0 {
		return err == nil, err // the other one has no records
	}
	there, err := recordIDs(mine)
	if err != nil {
		return false, err
	}
	for id := range wanted {
		if !there[id] {
			return false, nil
		}
	}
	return true, nil
}

// openBoth opens two transcripts.
func openBoth(a, b transcript.File) (first, second *os.File, closeBoth func(), err error) {
	if first, err = a.Open(); err != nil {
		return nil, nil, nil, err
	}
	if second, err = b.Open(); err != nil {
		return nil, nil, nil, errors.Join(err, first.Close())
	}
	return first, second, func() { _, _ = first.Close(), second.Close() }, nil
}

// behind finds the transcript that the new records of this one continue: a part of it was removed while claude ran,
// and claude went on. It returns both, or this one alone.
func behind(t transcript.File, earlier []transcript.File) ([]transcript.File, error) {
	for _, other := range earlier {
		has, err := Has(t, other)
		if err != nil {
			return nil, err
		}
		if has {
			continue
		}
		follows, err := goesOn(t, other)
		if err != nil {
			return nil, err
		}
		if follows {
			return []transcript.File{other, t}, nil
		}
	}
	return []transcript.File{t}, nil
}

// goesOn reports whether the first record here that the other transcript lacks has a parent that the other one has
// and that is missing here.
func goesOn(t, other transcript.File) (follows bool, err error) {
	mine, theirs, closeBoth, err := openBoth(t, other)
	if err != nil {
		return false, err
	}
	defer closeBoth()
	known, err := recordIDs(theirs)
	if err != nil {
		return false, err
	}
	there, err := recordIDs(mine)
	if err != nil {
		return false, err
	}
	_, err = transcript.EachLine(mine, func(line transcript.Line) (more bool, err error) {
		if line.UUID == "" || known[line.UUID] {
			return true, nil
		}
		follows = known[line.Parent] && !there[line.Parent]
		return false, nil
	})
	return follows, err
}

// beginsWith reports whether whole is the same file as beginning, or begins with all of its bytes.
func beginsWith(whole, beginning *os.File) (bool, error) {
	a, err := whole.Stat()
	if err != nil {
		return false, err
	}
	b, err := beginning.Stat()
	if err != nil || os.SameFile(a, b) || a.Size() < b.Size() {
		return err == nil && os.SameFile(a, b), err
	}
	const piece = 1 << 18 // bytes
	ours, theirs := make([]byte, piece), make([]byte, piece)
	for at := int64(0); at < b.Size(); at += piece {
		n := min(piece, b.Size()-at)
		for f, into := range map[*os.File][]byte{whole: ours[:n], beginning: theirs[:n]} {
			if _, err := f.ReadAt(into, at); err != nil {
				return false, err
			}
		}
		if !bytes.Equal(ours[:n], theirs[:n]) {
			return false, nil
		}
	}
	return true, nil
}

// recordIDs returns the ids of all records of a transcript.
func recordIDs(f *os.File) (map[string]bool, error) {
	ids := map[string]bool{}
	_, err := transcript.EachLine(f, func(line transcript.Line) (more bool, err error) {
		if line.UUID != "" {
			ids[line.UUID] = true
		}
		return true, nil
	})
	return ids, err
}

// Join replaces a transcript, which is the last of the parts, by all parts in order, once the new file is complete and on
// the disk. A record that several parts have is written once.
func Join(t transcript.File, parts []transcript.File) error {
	out, err := renameio.NewPendingFile(t.Path, renameio.WithTempDir(filepath.Dir(t.Path)), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer func() { _ = out.Cleanup() }()
	written := map[string]bool{}
	for _, part := range parts {
		if err := copyNew(part, out, written); err != nil {
			return err
		}
	}
	return out.CloseAtomicallyReplace()
}

// copyNew copies the lines of a transcript, without the records that are in written already.
func copyNew(t transcript.File, out io.Writer, written map[string]bool) error {
	f, err := t.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	end, err := transcript.EachLine(f, func(line transcript.Line) (more bool, err error) {
		if line.UUID != "" && written[line.UUID] {
			return true, nil
		}
		written[line.UUID] = true
		_, err = io.Copy(out, io.NewSectionReader(f, line.Start, line.Len()))
		return err == nil, err
	})
	if err != nil {
		return err
	}
	return copyRest(out, f, end)
}

// copyRest copies the text behind the last whole line, a record that was cut short, and ends the line.
func copyRest(out io.Writer, f *os.File, from int64) error {
	info, err := f.Stat()
	if err != nil || info.Size() <= from {
		return err
	}
	if _, err := io.Copy(out, io.NewSectionReader(f, from, info.Size()-from)); err != nil {
		return err
	}
	_, err = io.WriteString(out, "\n")
	return err
}
