package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strconv"

	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/store/private"
)

// The head records where the chain ends. It is outside of the project: an agent that can write all of .nbs cannot cut
// off the journal's end, or rewrite the whole chain, without a mismatch with the head. The head is written after the
// line that it names. A killed writer, or a power cut, can leave a head that is behind, never one that is ahead.

const headSize = 20 + 1 + 64 + 1 + 8 + 1 // bytes, those of a checksum too: the first versions wrote it in place

type head struct {
	size int64
	sum  private.Sum
}

// text returns the head in the form that is stored.
func (h head) text() []byte {
	text := fmt.Appendf(nil, "%020d %s", h.size, h.sum)
	return fmt.Appendf(text, " %08x\n", crc32.ChecksumIEEE(text))
}

func parseHead(text []byte) (head, bool) {
	if len(text) != headSize {
		return head{}, false
	}
	size, err := strconv.ParseInt(string(text[:20]), 10, 64)
	h := head{size: size, sum: private.Sum(text[21:85])}
	return h, err == nil && size >= 0 && h.sum.Valid() && bytes.Equal(h.text(), text)
}

// endsIn reports whether the journal has the line that the head names, and it ends where the head says.
func (h head) endsIn(journal io.ReaderAt) bool {
	if h.size == 0 {
		return true
	}
	text := make([]byte, min(h.size, eventLimit+1))
	if _, err := journal.ReadAt(text, h.size-int64(len(text))); err != nil {
		return false
	}
	text, whole := bytes.CutSuffix(text, []byte{'\n'})
	return whole && private.SumOf(text[bytes.LastIndexByte(text, '\n')+1:]) == h.sum
}

func (j *Journal) headPath() string { return j.heads.Path(j.name) }

// readHead reads the head; known is false when the file is missing or is not a head.
func (j *Journal) readHead() (h head, known bool, err error) {
	text, err := j.heads.Read(j.name, headSize)
	_, tooLarge := errors.AsType[smallfile.TooLargeError](err)
	if err != nil && !tooLarge && !errors.Is(err, fs.ErrNotExist) {
		return head{}, false, fmt.Errorf("read %s: %w", j.headPath(), err)
	}
	h, known = parseHead(text)
	return h, known, nil
}

// headForWriting is readHead for a caller that will replace the head. It creates the folder.
func (j *Journal) headForWriting() (h head, known bool, err error) {
	if err := j.heads.Make(); err != nil {
		return head{}, false, err
	}
	return j.readHead()
}
