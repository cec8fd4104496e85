package transcript

import (
	"os"

	"nbs-worker/internal/claude/jsonl"
)

// Place is how far a transcript was read: up to the end of a whole line. The zero Place is the beginning.
type Place struct {
	offset int64
	uuid   string      // of the last record before it; "" without one
	record jsonl.Span  // where that record is
	file   os.FileInfo // the one that was read; nil: none yet
}

// Later calls visit with the messages after a place, and returns the place after them. It leaves a line that is still
// being written for the next call. If the transcript no longer has the record at the place, Later calls began and
// then reads from the beginning.
func (t File) Later(from Place, reading Wanted, visit func(Message) error, began func()) (Place, error) {
	f, err := t.Open()
	if err != nil {
		return from, err
	}
	defer f.Close()
	read := from.uuid != ""
	if from, err = from.in(f); err != nil {
		return from, err
	}
	if read && from.offset == 0 {
		began()
	}
	_, err = eachRecord(f, from.offset, func(record *conversationRecord, at jsonl.Span) error {
		from.offset = at.End
		if record.UUID == "" {
			return nil
		}
		from.uuid, from.record = record.UUID, at
		for _, message := range reading.kept(record) {
			if err := visit(message); err != nil {
				return err
			}
		}
		return nil
	})
	return from, err
}

// in returns the place in f. f is another file than before if Claude has rewritten a deleted transcript, or
// package parts has replaced it. In another file the place is after the record that was read last, or at the beginning
// if f lacks that record.
func (p Place) in(f *os.File) (Place, error) {
	info, err := f.Stat()
	if err != nil {
		return p, err
	}
	if p.file != nil && os.SameFile(p.file, info) && info.Size() >= p.offset && p.stands(f) {
		return p, nil
	}
	p.file, p.offset = info, 0
	if p.uuid == "" {
		return p, nil
	}
	_, err = eachRecord(f, 0, func(record *conversationRecord, at jsonl.Span) error {
		if record.UUID == p.uuid {
			p.offset, p.record = at.End, at
		}
		return nil
	})
	return p, err
}

// stands reports whether the record that was read last is still in its place: a file that was cut may have grown
// again since.
func (p Place) stands(f *os.File) bool {
	if p.record.End == 0 {
		return true // [File.Conversation] gives only the id of its last record
	}
	record, err := readRecord(f, p.record)
	return err == nil && record.UUID == p.uuid
}
