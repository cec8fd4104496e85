package transcript

import (
	"bytes"
	"time"
	"unicode/utf8"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
)

// APIError is the error with which a turn ended instead of a reply.
type APIError struct {
	Class string // as Claude names it: "rate_limit"; "unknown" when it does not
	Text  string // what the person was told, cut at [agent.FailureText] bytes
}

// Turn is how a turn of a conversation ended.
type Turn struct {
	Ended bool      // false: there was none, or nothing of it is near the transcript's end
	At    time.Time // zero: not written down
	Error *APIError // nil: it ended with a reply
}

const apiErrorReach = 1 << 18 // bytes of a transcript's end that are looked at

// LastTurn finds how the last turn of the conversation ended. A running turn counts by its messages so far. A
// compaction counts as a turn that ended well: the error of a turn before it, such as a conversation that was too
// long, no longer applies.
func (t File) LastTurn() (Turn, error) {
	var turn Turn
	err := t.backward(func(line []byte, behind int64) bool {
		if behind >= apiErrorReach {
			return false
		}
		var record conversationRecord
		if !mayEndTurn(line) || unmarshalRecord(line, &record) != nil || record.IsSidechain {
			return true
		}
		switch {
		case record.compacted():
			turn = Turn{Ended: true, At: record.at()}
		case record.Type != "assistant":
		case record.IsAPIError:
			text := textOfBlocks(blocksOf(record.message().Content))
			turn = Turn{Ended: true, At: record.at(), Error: &APIError{Class: record.failure(), Text: human.Cut(text, agent.FailureText, utf8.RuneLen)}}
		case record.message().Model != synthetic:
			turn = Turn{Ended: true, At: record.at()}
		}
		return !turn.Ended
	})
	return turn, err
}

func mayEndTurn(line []byte) bool {
	return bytes.Contains(line, []byte(`"assistant"`)) || bytes.Contains(line, []byte(`"compact_boundary"`))
}
