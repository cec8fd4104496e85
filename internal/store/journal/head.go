package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/store/private"
)

// The head says where the chain ends, apart from the journal and outside of the project: whoever
// can write all of .nbs cannot cut lines off the journal's end, or make the whole chain anew,
// without the head disagreeing. It is written after the line that it names. A writer that was
// killed in between, or a power cut, leaves a head that is behind, never one that is ahead.

const headSize = 20 + 1 + 64 + 1 + 8 + 1 // bytes; it is replaced in place, so it has a checksum too

type head struct {
	size int64
	sum  private.Sum
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
	h := head{size: size, sum: private.Sum(text[21:85])}
	return h, err == nil && size >= 0 && h.sum.Valid() && bytes.Equal(h.text(), text)
}

// endsIn tells whether the journal has the line that the head names, and it ends where the head says.
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

// openHead opens the head for a writer.
func (j *Journal) openHead() (f *os.File, h head, known bool, err error) {
	err = j.heads.In(func(_ *os.Root, at *os.File) error {
		f, err = openHeadIn(at, j.name, unix.O_RDWR|unix.O_CREAT)
		return err
	})
	if fail.KindOf(err) == fail.Unfit {
		return nil, head{}, false, err
	}
	if err != nil {
		return nil, head{}, false, j.heads.Remedied(fmt.Errorf("open %s: %w", j.headPath(), err))
	}
	if h, known, err = readHeadFrom(f); err != nil {
		return nil, head{}, false, errors.Join(err, f.Close())
	}
	return f, h, known, nil
}

func openHeadIn(dir *os.File, name string, flag int) (*os.File, error) {
	const private = 0o600
	fd, err := unix.Openat(int(dir.Fd()), name, flag|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, private)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(cmp.Or(err, smallfile.ErrIrregular), f.Close())
	}
	return f, nil
}

func (j *Journal) headPath() string { return j.heads.Path(j.name) }

// readHeadFrom reads an open head; known is false when there is none yet.
func readHeadFrom(f *os.File) (h head, known bool, err error) {
	text := make([]byte, headSize)
	n, err := f.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, false, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	h, known = parseHead(text[:n])
	return h, known, nil
}

// writeHead moves the open head.
func (j *Journal) writeHead(f *os.File, to head) error {
	if _, err := f.Write(to.text()); err != nil {
		return j.heads.Remedied(fmt.Errorf("write %s: %w", j.headPath(), err))
	}
	return nil
}

// readHead reads the head without the journal's lock. One that is just being replaced is
// read again.
func (j *Journal) readHead() (head, bool, error) {
	dir, err := j.heads.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, false, nil
	}
	if err != nil {
		return head{}, false, err
	}
	defer dir.Close()
	f, err := openHeadIn(dir, j.name, unix.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, false, nil
	}
	if err != nil {
		return head{}, false, fmt.Errorf("open %s: %w", j.headPath(), err)
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
