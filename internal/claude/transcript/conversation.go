package transcript

import (
	"cmp"
	"slices"

	"nbs-worker/internal/claude/jsonl"
)

// A transcript is a tree: each record names its parent, and two claudes that resumed one conversation have grown two
// branches. Claude goes on from the newest leaf, so the conversation is the path from that leaf to the root. Parents
// are before their children, or not far after them. So one pass from the end to the beginning finds the path, however
// long the transcript is.

// Wanted selects messages of a conversation.
type Wanted struct {
	Tools bool               // also what tools did, what Claude told itself, and subagents
	Keep  func(Message) bool // nil: all
	Last  int                // the number of messages from the end; 0: all
}

// wants reports whether a message is shown.
func (r *Wanted) wants(m *Message) bool {
	return (r.Tools || !m.Aside && m.Speaker != Tool) && (r.Keep == nil || r.Keep(*m))
}

// kept returns the wanted messages of a record.
func (r *Wanted) kept(record *conversationRecord) []Message {
	return slices.DeleteFunc(record.messages(), func(m Message) bool { return !r.wants(&m) })
}

// Conversation is the branch of a transcript from which Claude would go on.
type Conversation struct {
	End       Place // of what was read
	Elsewhere int   // messages that were met on other branches
	Messages  int   // to visit
	Gaps      int   // places at which records are missing; what stands before them is shown

	reading Wanted
	path    string
	spans   []jsonl.Span // of records with messages, oldest first
	skip    int          // messages of the first spans that are not wanted
}

// Conversation finds the conversation of a transcript. It reads as far back as is needed.
func (t File) Conversation(reading Wanted) (*Conversation, error) {
	f, err := t.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size, err := jsonl.EndOfLines(f)
	if err != nil {
		return nil, err
	}
	c := &climber{Conversation: Conversation{End: Place{offset: size, file: info}, reading: reading, path: t.Path}, file: f, orphans: map[string][]found{}, seen: size, place: size}
	if err := c.climb(size); err != nil {
		return nil, err
	}
	slices.SortFunc(c.found, func(a, b found) int { return cmp.Compare(a.place, b.place) })
	for _, found := range c.found {
		c.spans = append(c.spans, found.Span)
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
	f, err := At(c.path).Open()
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
