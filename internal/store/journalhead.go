package store

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strconv"
)

// The head says where the chain ends, apart from the journal: lines that are cut off at the
// journal's end are missed. It is written after the line that it names. A writer that was
// killed in between, or a power cut, leaves a head that is behind, never one that is ahead.

const (
	journalHead = "journal.head"
	headSize    = 20 + 1 + 64 + 1 + 8 + 1 // bytes; it is replaced in place, so it has a checksum too
)

type head struct {
	size int64
	sum  sum
}

// text is a head as it is on disk.
func (h head) text() []byte {
	text := fmt.Appendf(nil, "%020d %s", h.size, h.sum)
	return fmt.Appendf(text, " %08x\n", crc32.ChecksumIEEE(text))
}

func parseHead(text []byte) (head, bool) {
	if len(text) != headSize {
		return head{}, false
	}
	size, err := strconv.ParseInt(string(text[:20]), 10, 64)
	h := head{size: size, sum: sum(text[21:85])}
	return h, err == nil && size >= 0 && h.sum.valid() && bytes.Equal(h.text(), text)
}

// openHead opens the head for a writer.
func (s *Store) openHead() (f *os.File, h head, known bool, err error) {
	if f, err = s.openRegular(journalHead, os.O_CREATE|os.O_RDWR); err != nil {
		return nil, head{}, false, s.remedied(fmt.Errorf("open %s/%s: %w", folder, journalHead, err))
	}
	h, known, err = readHeadFrom(f)
	return f, h, known, err
}

func readHeadFrom(f *os.File) (head, bool, error) {
	text := make([]byte, headSize)
	n, err := f.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, false, fmt.Errorf("read %s/%s: %w", folder, journalHead, err)
	}
	h, known := parseHead(text[:n])
	return h, known, nil
}

// readHead reads the head without the journal's lock. One that is just being replaced is
// read again.
func (s *Store) readHead() (head, bool, error) {
	f, err := s.openRegular(journalHead, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, false, nil
	}
	if err != nil {
		return head{}, false, fmt.Errorf("open %s/%s: %w", folder, journalHead, err)
	}
	defer f.Close()
	const tries = 10
	for range tries {
		h, known, err := readHeadFrom(f)
		if known || err != nil {
			return h, known, err
		}
	}
	return head{}, false, nil
}
