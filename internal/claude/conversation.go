package claude

import (
	"io"
	"slices"
)

// A transcript is a tree: each record names its parent, and two claudes that resumed one
// conversation have grown two branches. What Claude would go on from is the newest leaf, so
// the conversation is the way from there to the root. Parents stand before their children,
// so one pass from the end to the beginning finds it, however long the transcript is.

// Wanted says what is wanted of a conversation.
type Wanted struct {
	Tools bool               // also what tools did, what Claude told itself, and subagents
	Keep  func(Message) bool // nil: all
	Last  int                // so many messages from the end; 0: all
}

// wants tells whether a message is shown.
func (r *Wanted) wants(m *Message) bool {
	return (r.Tools || !m.Aside && m.Speaker != Tool) && (r.Keep == nil || r.Keep(*m))
}

// kept are the messages of a record that are wanted.
func (r *Wanted) kept(record *spokenRecord) []Message {
	return slices.DeleteFunc(record.messages(), func(m Message) bool { return !r.wants(&m) })
}

// Conversation is the branch of a transcript that Claude would go on from.
type Conversation struct {
	Size      int64 // of the part that was read, which ends with a whole line
	Elsewhere int   // messages that were met on other branches
	Messages  int   // to visit
	Gaps      int   // places at which records are missing; what stands before them is shown

	reading Wanted
	path    string
	spans   []span // of records with messages, oldest first
	skip    int    // messages of the first of them
}

// Conversation finds the conversation of a transcript. It reads as far back as is needed.
func (t Transcript) Conversation(reading Wanted) (*Conversation, error) {
	f, err := openRegular(t.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := endOfLines(f)
	if err != nil {
		return nil, err
	}
	c := &climber{Conversation: Conversation{Size: size, reading: reading, path: t.Path}, file: f, orphans: map[string][]found{}, seen: size}
	if err := c.climb(size); err != nil {
		return nil, err
	}
	slices.SortFunc(c.found, func(a, b found) int { return int(a.start - b.start) })
	for _, found := range c.found {
		c.spans = append(c.spans, found.span)
		c.Messages += found.messages
	}
	if reading.Last > 0 {
		c.skip = max(0, c.Messages-reading.Last)
		c.Messages -= c.skip
	}
	return &c.Conversation, nil
}

// Each calls visit with the messages, oldest first, until it returns an error.
func (c *Conversation) Each(visit func(Message) error) error {
	if len(c.spans) == 0 {
		return nil
	}
	f, err := openRegular(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	skip := c.skip
	for _, span := range c.spans {
		record, err := readRecord(f, span)
		if err != nil {
			return err
		}
		kept := c.reading.kept(&record)
		n := min(skip, len(kept))
		skip -= n
		for _, message := range kept[n:] {
			if err := visit(message); err != nil {
				return err
			}
		}
	}
	return nil
}

// found is a record of the conversation.
type found struct {
	span
	messages int // of it, that are wanted
}

const (
	orphansKept = 10_000
	gapsMended  = 20 // each costs a pass to the beginning
)

// climber goes from the newest leaf of a transcript to its root.
type climber struct {
	Conversation
	file    io.ReaderAt
	found   []found            // newest first
	count   int                // messages in found
	orphans map[string][]found // results of tools that ran side by side, by parent
	kept    int                // of orphans
	want    string             // uuid of the next record
	wantAny bool               // the next message is it, whichever it is
	from    int64              // where the record that named it stands

	elsewhere int   // Elsewhere by then
	seen      int64 // the first line that was looked at in any pass
}

func (c *climber) climb(size int64) error {
	c.wantAny, c.from = true, size
	for missing := false; ; missing = true {
		before := c.from
		done, err := c.pass()
		if err != nil {
			return err
		}
		further := c.from != before
		if missing && further {
			c.Gaps++
		}
		if done || missing && !further {
			return nil
		}
		c.Elsewhere, c.wantAny = c.elsewhere, true // the record that is wanted is not there: go on with what stands before
	}
}

// pass reads backward from the last record that was found; done is true when the root was
// reached, or enough.
func (c *climber) pass() (done bool, err error) {
	lines := backwardLines{file: c.file, at: c.from}
	whichever := c.wantAny
	for {
		span, err := lines.next()
		if err == io.EOF { //nolint:errorlint // ours
			return c.want == "" || c.wantAny && whichever, nil
		}
		if err != nil {
			return false, err
		}
		record, err := readRecord(c.file, span)
		if err != nil {
			return false, err
		}
		if record.UUID == "" {
			continue
		}
		if c.visit(&record, span) {
			return true, nil
		}
	}
}

// visit looks at one record; true when no other is needed.
func (c *climber) visit(record *spokenRecord, at span) (done bool) {
	fresh := at.start < c.seen // no earlier pass has come here
	c.seen = min(c.seen, at.start)
	switch {
	case record.IsSidechain:
		if fresh && c.reading.Tools {
			c.add(record, at)
		}
	case c.wantAny && (record.spoken() || record.compacted()), !c.wantAny && record.UUID == c.want:
		c.add(record, at)
		c.adopt(record.UUID)
		c.want, c.wantAny, c.from, c.elsewhere = record.parent(), c.Gaps >= gapsMended, at.start, c.Elsewhere
		if c.want == "" && !c.wantAny {
			return true
		}
	case record.spoken() && record.onlyResults():
		if n := len(c.reading.kept(record)); fresh && n > 0 && c.kept < orphansKept {
			c.kept++
			c.orphans[record.parent()] = append(c.orphans[record.parent()], found{at, n})
		}
	case record.spoken() && !record.IsMeta && !c.wantAny:
		c.Elsewhere++
	}
	return c.reading.Last > 0 && c.count >= c.reading.Last
}

func (c *climber) add(record *spokenRecord, at span) {
	if n := len(c.reading.kept(record)); n > 0 {
		c.found = append(c.found, found{at, n})
		c.count += n
	}
}

func (c *climber) adopt(uuid string) {
	c.found = append(c.found, c.orphans[uuid]...)
	for _, orphan := range c.orphans[uuid] {
		c.count += orphan.messages
	}
	delete(c.orphans, uuid)
}

// Later calls visit with the messages of the records behind an offset, and returns the
// offset behind them. A line that is just being written is left for the next call.
func (t Transcript) Later(offset int64, reading Wanted, visit func(Message) error) (int64, error) {
	f, err := openRegular(t.Path)
	if err != nil {
		return offset, err
	}
	defer f.Close()
	lines := forwardLines{file: f, at: offset}
	for {
		span, err := lines.next()
		if err == io.EOF { //nolint:errorlint // ours
			return offset, nil
		}
		if err != nil {
			return offset, err
		}
		record, err := readRecord(f, span)
		if err != nil {
			return offset, err
		}
		offset = span.end
		if record.UUID == "" {
			continue
		}
		for _, message := range reading.kept(&record) {
			if err := visit(message); err != nil {
				return offset, err
			}
		}
	}
}
