// Package jsonl finds the lines of a JSONL file from both ends, without reading it whole: Claude Code's
// files and lines have any length, and most often only the end is needed.
//
//   - A line is a [Span] of the file; the caller reads as much of it as it needs.
//   - Bytes after the last line break are no line: they are still being written, or were cut short.
//   - A file that grows while it is read is no error; one that becomes shorter is.
//
// The package does not know what is in the lines, and imports nothing of this module.
package jsonl

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// Span is the place of a line in a file, with its line break.
type Span struct{ Start, End int64 }

// Len returns the length of the line in bytes.
func (s Span) Len() int64 { return s.End - s.Start }

const pieceSize = 1 << 16 // bytes that are looked through for line breaks at a time

// EndOfLines returns the size of a file up to its last line break.
func EndOfLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	last, err := BackwardFrom(f, info.Size()+1).Next() // as if a line break followed
	if errors.Is(err, io.EOF) {
		return 0, nil
	}
	return last.Start, err
}

// Backward finds the lines of a file from an end of a line to the beginning, however
// long they are.
type Backward struct {
	file  io.ReaderAt
	at    int64  // the next line ends here
	piece []byte // of the file, beginning at from
	from  int64
}

// BackwardFrom returns a Backward for the lines before end, which is the end of a line.
func BackwardFrom(file io.ReaderAt, end int64) *Backward { return &Backward{file: file, at: end} }

// Next returns the line before. Errors: [io.EOF] at the beginning.
func (b *Backward) Next() (Span, error) {
	if b.at <= 0 {
		return Span{}, io.EOF
	}
	for look := b.at - 1; ; look = b.from { // before the line break of the line itself
		if look <= 0 {
			line := Span{0, b.at}
			b.at = 0
			return line, nil
		}
		if b.piece == nil || look <= b.from || look > b.from+int64(len(b.piece)) {
			if err := b.load(look); err != nil {
				return Span{}, err
			}
		}
		if i := bytes.LastIndexByte(b.piece[:look-b.from], '\n'); i >= 0 {
			line := Span{b.from + int64(i) + 1, b.at}
			b.at = line.Start
			return line, nil
		}
	}
}

// load reads the piece that ends at an offset.
func (b *Backward) load(end int64) error {
	b.from = max(0, end-pieceSize)
	if b.piece == nil {
		b.piece = make([]byte, pieceSize)
	}
	b.piece = b.piece[:end-b.from]
	_, err := b.file.ReadAt(b.piece, b.from)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF // it has become shorter
	}
	return err
}

// Forward finds the whole lines of a file from an offset on.
type Forward struct {
	file io.ReaderAt
	at   int64 // the next line begins here
}

// ForwardFrom returns a Forward for the lines from begin on, which is the beginning of a line.
func ForwardFrom(file io.ReaderAt, begin int64) *Forward { return &Forward{file: file, at: begin} }

// End returns the end of the last line that was found. Before the first line it returns the start.
func (l *Forward) End() int64 { return l.at }

// Next returns the next line. Errors: [io.EOF] when there is no whole one.
func (l *Forward) Next() (Span, error) {
	piece := make([]byte, 4096)
	for look := l.at; ; {
		n, err := l.file.ReadAt(piece, look)
		if i := bytes.IndexByte(piece[:n], '\n'); i >= 0 {
			line := Span{l.at, look + int64(i) + 1}
			l.at = line.End
			return line, nil
		}
		if err != nil {
			return Span{}, err
		}
		look += int64(n)
		if len(piece) < pieceSize {
			piece = make([]byte, pieceSize)
		}
	}
}
