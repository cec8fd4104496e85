package transcript

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"nbs-worker/internal/claude/jsonl"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const backwardLimit = 16 << 20 // bytes of a transcript's end that are looked at

// backward is [eachLineBackward] for a transcript at its present size.
func (t File) backward(visit func(line []byte, behind int64) bool) error {
	f, err := t.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return eachLineBackward(f, info.Size(), visit)
}

// eachLineBackward calls visit with the lines of a file from the last to the first, and with the number
// of bytes after each, until visit returns false. Lines longer than recordLimit are skipped.
func eachLineBackward(file io.ReaderAt, size int64, visit func(line []byte, behind int64) bool) error {
	for lines := jsonl.BackwardFrom(file, size); ; {
		at, err := lines.Next()
		behind := size - at.End
		switch {
		case errors.Is(err, io.EOF), err == nil && behind >= backwardLimit:
			return nil
		case err != nil:
			return err
		case at.Len() > recordLimit:
			continue
		}
		line := make([]byte, at.Len())
		if _, err := file.ReadAt(line, at.Start); err != nil {
			return err
		}
		if !visit(line, behind) {
			return nil
		}
	}
}

// eachBackward is [File.backward] for records; other lines are skipped.
func (t File) eachBackward(visit func(*conversationRecord) bool) error {
	return t.backward(func(line []byte, _ int64) bool {
		var record conversationRecord
		return unmarshalRecord(line, &record) != nil || visit(&record)
	})
}

// errEnough is returned by a visitor that needs no more records.
var errEnough = errors.New("enough")

// eachRecord calls visit with the records of a file from an offset on, and with the spans of their
// lines, until visit returns an error. A line that is no record is visited as the zero record.
// eachRecord returns the end of the last whole line that it read.
func eachRecord(file io.ReaderAt, from int64, visit func(*conversationRecord, jsonl.Span) error) (end int64, err error) {
	for lines := jsonl.ForwardFrom(file, from); ; {
		at, err := lines.Next()
		if err == io.EOF { //nolint:errorlint // ours
			return lines.End(), nil
		}
		if err != nil {
			return lines.End(), err
		}
		record, err := readRecord(file, at) // io.EOF is an error here: the file has become shorter
		if err == nil {
			err = visit(&record, at)
		}
		switch {
		case errors.Is(err, errEnough):
			return lines.End(), nil
		case err != nil:
			return lines.End(), err
		}
	}
}

// Line is a line of a transcript.
type Line struct {
	jsonl.Span

	UUID, Parent string // of the record; "" for a line that is no record, or that names none
}

// EachLine calls visit with the lines of an open transcript, until visit returns false. It returns the end of the last
// whole line that it read.
func EachLine(f io.ReaderAt, visit func(Line) (more bool, err error)) (end int64, err error) {
	return eachRecord(f, 0, func(record *conversationRecord, at jsonl.Span) error {
		more, err := visit(Line{at, record.UUID, record.Parent})
		if err == nil && !more {
			return errEnough
		}
		return err
	})
}

const (
	// recordLimit is the length in bytes up to which a record is read whole. Images and large files that a tool has
	// read cause longer records.
	recordLimit = 2 << 20
	recordEdge  = 64 << 10 // bytes at each end of a longer one that are read
)

// readRecord reads the record of a line, or the zero record if the line is not a record.
func readRecord(f io.ReaderAt, at jsonl.Span) (conversationRecord, error) {
	if at.Len() > recordLimit {
		return readEdges(f, at)
	}
	text := make([]byte, at.Len())
	if _, err := f.ReadAt(text, at.Start); err != nil {
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

// fields are the patterns that find fields in the two ends of a long line. Quotes within a text are escaped, so the
// patterns match nothing in a text.
type fields struct{ parent, own, timestamp, session, kind, text, result *regexp.Regexp }

// edgeFields are compiled at the first long line: most commands find none, and should not wait for it.
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
func readEdges(f io.ReaderAt, at jsonl.Span) (conversationRecord, error) {
	head, tail := make([]byte, recordEdge), make([]byte, recordEdge)
	if _, err := f.ReadAt(head, at.Start); err != nil {
		return conversationRecord{}, err
	}
	if _, err := f.ReadAt(tail, at.End-recordEdge); err != nil {
		return conversationRecord{}, err
	}
	field := edgeFields()
	record := conversationRecord{
		Type: lastField(field.kind, tail), UUID: lastField(field.own, tail), Parent: firstField(field.parent, head),
		Timestamp: lastField(field.timestamp, tail), SessionID: lastField(field.session, tail),
		IsSidechain: bytes.Contains(head, []byte(`"isSidechain":true`)), IsMeta: bytes.Contains(tail, []byte(`"isMeta":true`)),
		cut: at.Len(), cutResult: field.result.Match(head),
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
