package transcript

import (
	"errors"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"nbs-worker/internal/claude/jsonl"
)

// Sent is what became of a text that was submitted.
type Sent struct {
	UUID  string // of its record; "" while it is only queued: Claude takes it up during or after the present turn
	Found bool
}

// Sent looks for a text that was submitted when the transcript had after bytes. It compares the text with Claude's
// record, without what Claude changes in a prompt.
func (t File) Sent(after int64, text string) (sent Sent, err error) {
	return t.sent(after, time.Time{}, text)
}

// SentSince is [File.Sent] for a conversation to which claude has moved since. Earlier records of that conversation
// do not count.
func (t File) SentSince(since time.Time, text string) (sent Sent, err error) {
	return t.sent(0, since, text)
}

func (t File) sent(after int64, since time.Time, text string) (sent Sent, err error) {
	text = lasting(text)
	err = t.eachBehind(after, func(r *conversationRecord) bool {
		if r.at().Before(since) {
			return true
		}
		if r.Type == "queue-operation" && r.Operation == "enqueue" && lasting(textOfBlocks(blocksOf(r.Content))) == text {
			sent.Found = true
			return true
		}
		for _, m := range r.messages() {
			if m.Speaker == You && !m.Aside && lasting(m.Text) == text {
				sent.UUID, sent.Found = r.UUID, true
			}
		}
		return sent.UUID == ""
	})
	return sent, err
}

// LastAsked returns the last text that Claude took from a person, or "".
func (t File) LastAsked() (text string, err error) {
	err = t.eachBackward(func(r *conversationRecord) bool {
		for _, m := range r.messages() {
			if m.Speaker == You && !m.Aside {
				text = m.Text
			}
		}
		return text == ""
	})
	return text, err
}

// lasting returns a prompt in the form in which Claude records it: composed (NFC), without most invisible characters,
// and without white space around it.
func lasting(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if IsHidden(r) {
			return -1
		}
		return r
	}, norm.NFC.String(text)))
}

// IsHidden reports whether a character is invisible by itself: it formats others, fills a place or chooses a variant.
func IsHidden(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Answer is what the agent answered to a text.
type Answer struct {
	Ended       bool   // the turn is over
	Text        string // its last words
	Failure     string // class of the error of the API with which it ended, as Claude names it
	Interrupted bool   // by a person
}

// Answer reads the turn that began with the record uuid, which follows the first after bytes. The parents decide
// which records belong to the turn, and in which order: 2.1.197 may write an answer before the question, and the end
// of a turn before its answer.
func (t File) Answer(after int64, uuid string) (answer Answer, err error) {
	turn, err := t.turnBehind(after, uuid, func(*conversationRecord) bool { return false })
	var said []string
	for _, r := range turn {
		for _, m := range r.messages() {
			switch {
			case m.Speaker == Tool:
				said = nil // what it said before a tool ran is no answer
			case m.Speaker == Agent && (m.Failure != "" || r.message().Model != synthetic): // not what Claude puts in the place of a reply
				said, answer.Failure = append(said, m.Text), m.Failure
			}
		}
		answer.Interrupted = r.interrupts()
		if answer.Ended = answer.Interrupted || answer.Failure != "" || r.endsTurn(); answer.Ended {
			break
		}
	}
	answer.Text = strings.Join(said, "\n")
	return answer, err
}

// turnBehind returns the records that descend from another one, each after its parent. It leaves out records that
// opens accepts, with their descendants.
func (t File) turnBehind(after int64, uuid string, opens func(*conversationRecord) bool) ([]*conversationRecord, error) {
	var turn []*conversationRecord
	parents := map[string]string{}
	err := t.eachBehind(after, func(r *conversationRecord) bool {
		if parents[r.UUID] = r.parent(); opens(r) {
			parents[r.UUID] = ""
		}
		if !r.IsSidechain {
			turn = append(turn, new(*r))
		}
		return true
	})
	behind := generations(uuid, maps.Keys(parents), func(of string) string { return parents[of] })
	turn = slices.DeleteFunc(turn, func(r *conversationRecord) bool { return behind[r.UUID] == 0 })
	slices.SortStableFunc(turn, func(a, b *conversationRecord) int { return behind[a.UUID] - behind[b.UUID] })
	return turn, err
}

// generations returns by how many generations each record descends from another one; 0 if it does not. It looks up
// each parent once: a turn may have many thousands of records.
func generations(from string, uuids iter.Seq[string], parentOf func(uuid string) string) map[string]int {
	behind := map[string]int{"": 0}
	for uuid := range uuids {
		var way []string
		for _, known := behind[uuid]; !known && uuid != from; _, known = behind[uuid] {
			behind[uuid] = 0 // a damaged file may go in a circle
			way, uuid = append(way, uuid), parentOf(uuid)
		}
		for _, child := range slices.Backward(way) {
			if uuid == from || behind[uuid] > 0 {
				behind[child] = behind[uuid] + 1
			}
			uuid = child
		}
	}
	return behind
}

// EachRecord visits the records in the order of the file, each with its messages and whether it ends a turn.
func (t File) EachRecord(visit func(uuid string, said []Message, ends bool)) error {
	return t.eachBehind(0, func(r *conversationRecord) bool {
		visit(r.UUID, r.messages(), r.interrupts() || r.IsAPIError || r.endsTurn())
		return true
	})
}

// eachBehind visits the whole records after the first after bytes, until visit returns false. A missing file has no
// records: Claude creates it with the first prompt.
func (t File) eachBehind(after int64, visit func(*conversationRecord) bool) error {
	f, err := t.Open()
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = eachRecord(f, after, func(record *conversationRecord, _ jsonl.Span) error {
		if !visit(record) {
			return errEnough
		}
		return nil
	})
	return err
}
