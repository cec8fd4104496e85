package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/store/private"
)

// Append adds one line to the journal, durably, under the journal's lock. It sets the chain fields of the event.
func (j *Journal) Append(ctx context.Context, event Event) error {
	first := !j.hasJournaled()
	unlock, err := j.nbs.Lock(ctx, lockName)
	if err != nil {
		return err
	}
	defer unlock()
	f, err := j.open()
	if err != nil {
		return err
	}
	return errors.Join(j.appendTo(f, event, first), f.Close())
}

// hasJournaled reports whether this .nbs ever had a journal: its lock stays for as long as the
// .nbs does. A new .nbs in the place of another begins a new chain, and says so.
func (j *Journal) hasJournaled() bool {
	_, err := j.nbs.Lstat(private.Locks + "/" + lockName)
	return err == nil
}

// open opens the journal for a writer.
func (j *Journal) open() (*os.File, error) {
	f, err := j.nbs.OpenRegular(fileName, os.O_APPEND|os.O_CREATE|os.O_RDWR)
	if errors.Is(err, smallfile.ErrIrregular) {
		return nil, fail.Errorf(fail.Failed, "open %s: %w", j.nbs.Label(fileName), err).
			Hint("look at it, then move it aside: %s", private.MoveTo(j.Path(), ".aside"))
	}
	if err != nil {
		return nil, j.nbs.Remedied(fmt.Errorf("open %s: %w", j.nbs.Label(fileName), err))
	}
	return f, nil
}

// appendTo adds a link to the open journal and moves the head there. first reports that this .nbs had no journal
// before.
func (j *Journal) appendTo(f *os.File, event Event, first bool) error {
	last, known, err := j.headForWriting()
	if err != nil { // before there is a line that it does not name
		return err
	}
	events := []Event{event}
	if info, err := f.Stat(); first && known && err == nil && info.Size() == 0 {
		begun := event
		begun.Event, begun.PID, begun.Detail = "begun", 0, fmt.Sprintf("a new journal; the earlier .nbs in this place had one of %d bytes", last.size)
		events, known = []Event{begun, event}, false
		if err := j.heads.Remove(j.name); err != nil { // a writer killed from here on leaves a chain without a head
			return err
		}
	}
	for _, event := range events {
		if last, err = j.appendLink(f, event, last, known); err != nil {
			return err
		}
		known = true
	}
	return j.heads.HandOverText(j.name, last.text())
}

// appendLink adds a link to the open journal, durably, and returns where the chain ends then.
func (j *Journal) appendLink(f *os.File, event Event, last head, known bool) (head, error) {
	end, err := endOf(f, last, known)
	if err != nil {
		return head{}, fmt.Errorf("read %s: %w", j.nbs.Label(fileName), err)
	}
	event.Prev, event.Over = end.prev, end.over
	line, err := encodeEvent(event)
	if err != nil {
		return head{}, err
	}
	text := slices.Concat(line, []byte{'\n'})
	if end.torn {
		text = slices.Concat([]byte{'\n'}, text)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync()); err != nil {
		return head{}, j.nbs.Remedied(fmt.Errorf("write %s: %w", j.nbs.Label(fileName), err))
	}
	return head{size: end.size + int64(len(text)), sum: private.SumOf(line)}, nil
}

// encodeEvent returns an event as a line, without the line break. It cuts a detail that is too long for a line, such
// as one that quotes another program.
func encodeEvent(event Event) ([]byte, error) {
	const kept = eventLimit / 8 // JSON spells a character with six at most
	line, err := json.Marshal(event)
	if err == nil && len(line) >= eventLimit {
		event.Detail = event.Detail[:kept] + "..."
		line, err = json.Marshal(event)
	}
	return line, err
}

// ending is where the next line goes and what it must contain.
type ending struct {
	chain
	size int64
	torn bool // the last line has no line break
}

// endOf reads the journal behind its head: nothing is there, or what a killed writer left. Without a head, it reads
// all of it. A journal that is shorter than its head has lost lines. A journal with another line there was replaced.
// In both cases the next line continues from the head, so that the break stays visible.
func endOf(f *os.File, last head, known bool) (ending, error) {
	info, err := f.Stat()
	if err != nil {
		return ending{}, err
	}
	end := ending{chain: chain{prev: firstSum}, size: info.Size()}
	from := int64(0)
	if known {
		end.prev, from = last.sum, min(last.size, end.size)
	}
	if from == end.size || known && !last.endsIn(f) {
		end.torn = tornAtEnd(f)
		return end, nil
	}
	lines := readFrom(io.NewSectionReader(f, from, end.size-from), end.chain, from)
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			end.chain = lines.chain
			return end, nil
		}
		if err != nil {
			return end, err
		}
		end.torn = !line.whole
	}
}

// tornAtEnd reports whether the last line was cut short, by a full disk or a power cut.
func tornAtEnd(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// CheckWritable proves that an event can be appended. Errors: those of writing.
func (j *Journal) CheckWritable() error {
	journal, err := j.open()
	if err != nil {
		return err
	}
	_, _, err = j.headForWriting()
	return errors.Join(err, j.heads.CheckWritable(), journal.Close())
}
