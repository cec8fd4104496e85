package transcript

import (
	"errors"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"nbs-worker/internal/claude/jsonl"
)

// Sent is what became of a text that was submitted.
type Sent struct {
	UUID  string // of its record; "" while it only is queued, and Claude takes it up with or after the present turn
	Found bool
}

// Sent looks for a text, composed and without space around it, that was submitted when the
// transcript had so many bytes. Claude composes a text and trims it, and changes nothing else of it.
func (t File) Sent(after int64, text string) (sent Sent, err error) {
	err = t.eachBehind(after, func(r *conversationRecord) bool {
		if r.Type == "queue-operation" && r.Operation == "enqueue" && strings.TrimSpace(textOfBlocks(blocksOf(r.Content))) == text {
			sent.Found = true
			return true
		}
		for _, m := range r.messages() {
			if m.Speaker == You && !m.Aside && strings.TrimSpace(m.Text) == text {
				sent.UUID, sent.Found = r.UUID, true
			}
		}
		return sent.UUID == ""
	})
	return sent, err
}

// Answer is what the agent answered to a text.
type Answer struct {
	Ended       bool   // the turn is over
	Text        string // its last words
	Failure     string // class of the error of the API with which it ended, as Claude names it
	Interrupted bool   // by a person
}

// Answer reads the turn that the record of a text began, which stands behind so many bytes. What
// belongs to it, and in which order, is told by the parents: 2.1.197 may write an answer down before
// the question, and the end of a turn before its answer.
func (t File) Answer(after int64, uuid string) (answer Answer, err error) {
	turn, err := t.turnBehind(after, uuid)
	var said []string
	for _, r := range turn {
		for _, m := range r.messages() {
			switch {
			case m.Speaker == Tool:
				said = nil // what it said on the way is no answer
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

// turnBehind are the records that come after the one of a text, each after its parent.
func (t File) turnBehind(after int64, uuid string) ([]*conversationRecord, error) {
	var turn []*conversationRecord
	parents := map[string]string{}
	err := t.eachBehind(after, func(r *conversationRecord) bool {
		parents[r.UUID] = r.parent()
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

// generations are how many records each of some comes after another one, by their parents; 0: it does
// not. For each a parent is looked for once: a turn may have many thousands.
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

// EachRecord tells of the records in the order of the file: what each says, and whether it is the last of a turn.
func (t File) EachRecord(visit func(uuid string, said []Message, ends bool)) error {
	return t.eachBehind(0, func(r *conversationRecord) bool {
		visit(r.UUID, r.messages(), r.interrupts() || r.IsAPIError || r.endsTurn())
		return true
	})
}

// eachBehind visits the whole records behind so many bytes, until visit has seen enough. Without a
// file there are none: Claude makes it with the first prompt.
func (t File) eachBehind(after int64, visit func(*conversationRecord) bool) error {
	f, err := openRegular(t.Path)
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
