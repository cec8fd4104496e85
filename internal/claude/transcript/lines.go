package transcript

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// span is where a line stands in a file, with its line break.
type span struct{ start, end int64 }

const linePiece = 1 << 18 // bytes that are looked through for line breaks at a time

// endOfLines is the size of a file up to its last line break.
func endOfLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	lines := backwardLines{file: f, at: info.Size() + 1} // as if a line break followed
	last, err := lines.next()
	if errors.Is(err, io.EOF) {
		return 0, nil
	}
	return last.start, err
}

// backwardLines finds the lines of a file from an end of a line to the beginning, however
// long they are.
type backwardLines struct {
	file  io.ReaderAt
	at    int64  // the next line ends here
	piece []byte // of the file, from offset
	from  int64
}

// next returns the line before. Errors: [io.EOF] at the beginning.
func (b *backwardLines) next() (span, error) {
	if b.at <= 0 {
		return span{}, io.EOF
	}
	for look := b.at - 1; ; look = b.from { // before the line break of the line itself
		if look <= 0 {
			line := span{0, b.at}
			b.at = 0
			return line, nil
		}
		if b.piece == nil || look <= b.from || look > b.from+int64(len(b.piece)) {
			if err := b.load(look); err != nil {
				return span{}, err
			}
		}
		if i := bytes.LastIndexByte(b.piece[:look-b.from], '\n'); i >= 0 {
			line := span{b.from + int64(i) + 1, b.at}
			b.at = line.start
			return line, nil
		}
	}
}

// load reads the piece that ends at an offset.
func (b *backwardLines) load(end int64) error {
	b.from = max(0, end-linePiece)
	if b.piece == nil {
		b.piece = make([]byte, linePiece)
	}
	b.piece = b.piece[:end-b.from]
	_, err := b.file.ReadAt(b.piece, b.from)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF // it has become shorter
	}
	return err
}

const backwardLimit = 16 << 20 // bytes of a transcript's end that are looked at

// backward calls visit with the lines of a transcript from the last to the first, and with how many
// bytes stand behind each, until it returns false. Lines that are too long are passed over.
func (t File) backward(visit func(line []byte, behind int64) bool) error {
	f, err := openRegular(t.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := (backwardLines{file: f, at: t.Size}); ; {
		at, err := lines.next()
		behind := t.Size - at.end
		switch {
		case errors.Is(err, io.EOF), behind >= backwardLimit:
			return nil
		case err != nil:
			return err
		case at.end-at.start > recordLimit:
			continue
		}
		line := make([]byte, at.end-at.start)
		if _, err := f.ReadAt(line, at.start); err != nil {
			return err
		}
		if !visit(line, behind) {
			return nil
		}
	}
}

// eachBackward is [File.backward] for records; lines that are none are passed over.
func (t File) eachBackward(visit func(*conversationRecord) bool) error {
	return t.backward(func(line []byte, _ int64) bool {
		var record conversationRecord
		return unmarshalRecord(line, &record) != nil || visit(&record)
	})
}

// forwardLines finds the whole lines of a file from an offset on.
type forwardLines struct {
	file io.ReaderAt
	at   int64 // the next line begins here
}

// next returns the next line. Errors: [io.EOF] when there is no whole one.
func (l *forwardLines) next() (span, error) {
	piece := make([]byte, 4096)
	for look := l.at; ; {
		n, err := l.file.ReadAt(piece, look)
		if i := bytes.IndexByte(piece[:n], '\n'); i >= 0 {
			line := span{l.at, look + int64(i) + 1}
			l.at = line.end
			return line, nil
		}
		if err != nil {
			return span{}, err
		}
		look += int64(n)
		if len(piece) < linePiece {
			piece = make([]byte, linePiece)
		}
	}
}

// errEnough is what a visitor of records says that needs no more of them.
var errEnough = errors.New("enough")

// eachRecord calls visit with the records of a file from an offset on, and with where their lines
// stand, until it returns an error. A line that is no record is the zero record. It returns the end
// of the last whole line.
func eachRecord(file io.ReaderAt, from int64, visit func(*conversationRecord, span) error) (end int64, err error) {
	for lines := (forwardLines{file: file, at: from}); ; {
		at, err := lines.next()
		if err == io.EOF { //nolint:errorlint // ours
			return lines.at, nil
		}
		if err != nil {
			return lines.at, err
		}
		record, err := readRecord(file, at) // whose EOF is none: the file has become shorter
		if err == nil {
			err = visit(&record, at)
		}
		switch {
		case errors.Is(err, errEnough):
			return lines.at, nil
		case err != nil:
			return lines.at, err
		}
	}
}

const (
	// recordLimit is the length in bytes up to which a record is read whole. Images and
	// large files that a tool has read make longer ones.
	recordLimit = 2 << 20
	recordEdge  = 64 << 10 // bytes at each end of a longer one that are read
)

// readRecord reads the record of a line. What is no record is the zero record.
func readRecord(f io.ReaderAt, at span) (conversationRecord, error) {
	if at.end-at.start > recordLimit {
		return readEdges(f, at)
	}
	text := make([]byte, at.end-at.start)
	if _, err := f.ReadAt(text, at.start); err != nil {
		return conversationRecord{}, err
	}
	var record conversationRecord
	if unmarshalRecord(text, &record) != nil {
		return conversationRecord{}, nil //nolint:nilerr // a line that was cut short, or is of no kind that we know
	}
	return record, nil
}

func unmarshalRecord(text []byte, into any) error {
	return json.Unmarshal(text, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// In what is left of a long line, fields are found by their looks: quotes within a text
// are escaped, so that nothing in a text looks like a field.
type fields struct{ parent, own, timestamp, session, kind, text, result *regexp.Regexp }

// edgeFields are compiled with the first such line: most commands meet none, and should not
// wait for it.
var edgeFields = sync.OnceValue(func() fields {
	return fields{
		parent:    regexp.MustCompile(`"(?:parentUuid|logicalParentUuid)":"([0-9A-Za-z-]+)"`),
		own:       regexp.MustCompile(`"uuid":"([0-9A-Za-z-]+)"`),
		timestamp: regexp.MustCompile(`"timestamp":"([^"]+)"`),
		session:   regexp.MustCompile(`"sessionId":"([^"]+)"`),
		kind:      regexp.MustCompile(`"type":"(user|assistant|attachment|system|progress)"`),
		text:      regexp.MustCompile(`"(?:text|content|prompt)":"`),
		result:    regexp.MustCompile(`"type":"tool_result"|"tool_use_id":"`),
	}
})

// readEdges reads the two ends of a line that is too long.
func readEdges(f io.ReaderAt, at span) (conversationRecord, error) {
	head, tail := make([]byte, recordEdge), make([]byte, recordEdge)
	if _, err := f.ReadAt(head, at.start); err != nil {
		return conversationRecord{}, err
	}
	if _, err := f.ReadAt(tail, at.end-recordEdge); err != nil {
		return conversationRecord{}, err
	}
	field := edgeFields()
	record := conversationRecord{
		Type: lastField(field.kind, tail), UUID: lastField(field.own, tail), Parent: firstField(field.parent, head),
		Timestamp: lastField(field.timestamp, tail), SessionID: lastField(field.session, tail),
		IsSidechain: bytes.Contains(head, []byte(`"isSidechain":true`)), IsMeta: bytes.Contains(tail, []byte(`"isMeta":true`)),
		cut: at.end - at.start, cutResult: field.result.Match(head),
	}
	if first := firstField(field.kind, head); record.Type == "" || first == "user" || first == "attachment" {
		record.Type = first
	}
	if i := field.text.FindIndex(head); i != nil {
		record.cutText = unquotedPrefix(head[i[1]:])
	}
	return record, nil
}

func firstField(field *regexp.Regexp, text []byte) string {
	if m := field.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

func lastField(field *regexp.Regexp, text []byte) string {
	if all := field.FindAllSubmatch(text, -1); all != nil {
		return string(all[len(all)-1][1])
	}
	return ""
}

const cutTextKept = 4 << 10 // bytes of the text of a record that is too long

// unquotedPrefix reads the beginning of a JSON string whose end may be missing.
func unquotedPrefix(text []byte) string {
	end := 0
	for end < min(len(text), cutTextKept) && text[end] != '"' {
		step := 1
		if text[end] == '\\' {
			step = 2
			if end+1 < len(text) && text[end+1] == 'u' {
				step = 6
			}
		}
		if end+step > len(text) {
			break
		}
		end += step
	}
	var decoded string
	quoted := `"` + string(text[:end]) + `"`
	if unmarshalRecord([]byte(quoted), &decoded) != nil {
		return strings.Map(printable, string(text[:end]))
	}
	return decoded
}

func printable(r rune) rune {
	if r == utf8.RuneError {
		return '?'
	}
	return r
}
