package transcript

import (
	"errors"
	"os"
	"strings"
)

// Sent is what became of a text that was submitted.
type Sent struct {
	UUID   string // of its record; "" while it only is queued
	Queued bool   // Claude takes it up with or after the present turn
	Found  bool
}

// Sent looks for a text, composed and without space around it, that was submitted when the
// transcript had so many bytes. Claude composes a text and trims it, and changes nothing else of it.
func (t File) Sent(after int64, text string) (sent Sent, err error) {
	err = t.eachBehind(after, func(r *conversationRecord) bool {
		if r.Type == "queue-operation" && r.Operation == "enqueue" && strings.TrimSpace(textOfBlocks(blocksOf(r.Content))) == text {
			sent.Queued, sent.Found = true, true
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
// belongs to it is told by the parents: 2.1.197 may write an answer down before the question.
func (t File) Answer(after int64, uuid string) (answer Answer, err error) {
	var records []conversationRecord
	parents := map[string]string{}
	err = t.eachBehind(after, func(r *conversationRecord) bool {
		records = append(records, *r)
		parents[r.UUID] = r.parent()
		return true
	})
	var said []string
	for i := range records {
		r := &records[i]
		if r.IsSidechain || r.UUID == uuid || !descends(r.UUID, uuid, parents) {
			continue
		}
		for _, m := range r.messages() {
			switch {
			case m.Speaker == You && strings.HasPrefix(m.Text, interrupted):
				answer.Ended, answer.Interrupted = true, true
			case m.Speaker == Agent:
				said, answer.Failure = append(said, m.Text), m.Failure
			case m.Speaker == Tool:
				said = nil // what it said on the way is no answer
			}
		}
		if answer.Ended = answer.Ended || answer.Failure != "" || r.endsTurn(); answer.Ended {
			break
		}
	}
	answer.Text = strings.Join(said, "\n")
	return answer, err
}

// descends tells whether a record comes after another one, by their parents.
func descends(uuid, from string, parents map[string]string) bool {
	for range len(parents) { // a damaged file may go in a circle
		switch parent := parents[uuid]; parent {
		case "":
			return false
		case from:
			return true
		default:
			uuid = parent
		}
	}
	return false
}

// interrupted is how Claude notes that a person has pressed Escape.
const interrupted = "[Request interrupted by user"

// endsTurn tells whether a record is the last one of a turn.
func (r *conversationRecord) endsTurn() bool {
	switch r.message().StopReason {
	case "end_turn", "max_tokens", "refusal", "model_context_window_exceeded":
		return true
	}
	return r.Type == "system" && r.Subtype == "turn_duration"
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
	_, err = eachRecord(f, after, func(record *conversationRecord, _ span) error {
		if !visit(record) {
			return errEnough
		}
		return nil
	})
	return err
}
