package transcript

import (
	"io"
	"slices"

	"nbs-worker/internal/claude/jsonl"
)

// found is a record of the conversation.
type found struct {
	jsonl.Span
	messages int   // number of its wanted messages
	place    int64 // in the conversation: its offset, but always after that of its parent
}

// passed is a skipped record.
type passed struct {
	found
	uuid, parent string
	counted      bool // in Elsewhere
}

const (
	// disorder is how many records away from its place a record may be: 2.1.197 writes the
	// first turn of a conversation in any order.
	disorder    = 100
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
	wantAny bool               // the next message is taken, whichever it is
	from    int64              // offset of the record that named it

	tip      string   // uuid of the newest record
	place    int64    // of the record that was found last
	tipPlace int64    // of the tip
	passed   []passed // the last few that are not of the branch, newest first
	behind   int      // records that were read beyond the root

	elsewhere int   // Elsewhere when the last record was found
	seen      int64 // offset of the first line that any pass has read
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
		c.Elsewhere, c.wantAny = c.elsewhere, true // the wanted record is missing: go on with the records before it
	}
}

// pass reads backward from the record that was found last. done is true when the root was
// reached, or enough messages were found.
func (c *climber) pass() (done bool, err error) {
	lines := jsonl.BackwardFrom(c.file, c.from)
	whichever := c.wantAny
	for {
		span, err := lines.Next()
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
		if c.End.uuid == "" {
			c.End.uuid = record.UUID
		}
		if c.visit(&record, span) {
			return true, nil
		}
	}
}

// visit handles one record. done is true if no other is needed.
func (c *climber) visit(record *conversationRecord, at jsonl.Span) (done bool) {
	fresh := at.Start < c.seen // no earlier pass has come here
	c.seen = min(c.seen, at.Start)
	switch {
	case record.IsSidechain:
		if fresh && c.reading.Tools {
			c.add(record, at, at.Start)
		}
	case c.wantAny && (record.isMessage() || record.compacted()), !c.wantAny && record.UUID == c.want:
		c.place = min(at.Start, c.place-1)
		if c.tip == "" {
			c.tip, c.tipPlace = record.UUID, c.place
		}
		c.add(record, at, c.place)
		c.adopt(record.UUID)
		c.want, c.wantAny, c.from, c.elsewhere = record.parent(), c.Gaps >= gapsMended, at.Start, c.Elsewhere
		c.climbPassed()
	case record.isMessage() && c.followsTip(record):
		c.tip, c.tipPlace = record.UUID, max(at.Start, c.tipPlace+1)
		c.add(record, at, c.tipPlace)
	case record.isMessage() && record.onlyResults():
		if n := len(c.reading.kept(record)); fresh && n > 0 && c.kept < orphansKept {
			c.kept++
			c.orphans[record.parent()] = append(c.orphans[record.parent()], found{at, n, at.Start})
		}
	default:
		c.passOver(record, at)
	}
	if c.want == "" && !c.wantAny {
		c.behind++
	}
	return c.behind > disorder || c.reading.Last > 0 && c.count >= c.reading.Last
}

// passOver skips a record, and remembers it for a while.
func (c *climber) passOver(record *conversationRecord, at jsonl.Span) {
	p := passed{found: found{Span: at, messages: len(c.reading.kept(record))}, uuid: record.UUID, parent: record.parent()}
	if record.isMessage() && !record.IsMeta && !c.wantAny {
		p.counted = true
		c.Elsewhere++
	}
	if c.passed = append(c.passed, p); len(c.passed) > disorder {
		c.passed = c.passed[1:]
	}
}

// passedBy returns the index in passed of a record, or -1.
func (c *climber) passedBy(uuid string) int {
	return slices.IndexFunc(c.passed, func(p passed) bool { return p.uuid == uuid })
}

// climbPassed climbs on through skipped records: they are after their children in the file.
func (c *climber) climbPassed() {
	for i := c.passedBy(c.want); i >= 0 && c.want != ""; i = c.passedBy(c.want) {
		p := c.passed[i]
		c.passed = slices.Delete(c.passed, i, i+1)
		if p.counted {
			c.Elsewhere--
			c.elsewhere = c.Elsewhere
		}
		c.place = min(p.Start, c.place-1)
		if p.messages > 0 {
			p.place = c.place
			c.found = append(c.found, p.found)
			c.count += p.messages
		}
		c.adopt(p.uuid)
		c.want = p.parent
	}
}

// followsTip reports whether a record descends from the newest one, although it is before it in the file.
func (c *climber) followsTip(record *conversationRecord) bool {
	if c.tip == "" {
		return false
	}
	uuid := record.parent()
	for range disorder {
		if uuid == c.tip {
			return true
		}
		i := c.passedBy(uuid)
		if i < 0 {
			return false
		}
		uuid = c.passed[i].parent
	}
	return false
}

func (c *climber) add(record *conversationRecord, at jsonl.Span, place int64) {
	if n := len(c.reading.kept(record)); n > 0 {
		c.found = append(c.found, found{at, n, place})
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
