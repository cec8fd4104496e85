package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// APIError is the error with which a turn ended instead of a reply.
type APIError struct {
	Class string // as Claude names it: "rate_limit"; "": it does not
	Text  string // what the person was told, at most apiErrorText bytes
}

// Turn is how a turn of a conversation ended.
type Turn struct {
	Ended bool      // false: there was none, or nothing of it is near the transcript's end
	At    time.Time // zero: not written down
	Error *APIError // nil: it ended with a reply
}

const (
	apiErrorReach = 1 << 18 // bytes of a transcript's end that are looked at
	apiErrorText  = 400
)

// turnEnd is what is used of a line of a transcript that may end a turn. Of other kinds of
// lines the fields may be anything.
type turnEnd struct {
	Type        string          `json:"type"`
	IsSidechain bool            `json:"isSidechain"`
	IsAPIError  bool            `json:"isApiErrorMessage"`
	Error       json.RawMessage `json:"error"`
	Timestamp   time.Time       `json:"timestamp"`
	Message     struct {
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// LastTurn finds how the last turn of the conversation ended. One that is not over counts by
// what was said in it.
func (t File) LastTurn() (Turn, error) {
	var turn Turn
	err := t.lines(func(text []byte, behind int64) bool {
		var line turnEnd
		if behind > apiErrorReach {
			return false
		}
		if !bytes.Contains(text, []byte(`"assistant"`)) || json.Unmarshal(text, &line) != nil || line.Type != "assistant" || line.IsSidechain {
			return true
		}
		switch {
		case line.IsAPIError:
			turn = Turn{Ended: true, At: line.Timestamp, Error: &APIError{Class: jsonString(line.Error), Text: cut(line.text(), apiErrorText)}}
		case line.Message.Model != "<synthetic>":
			turn = Turn{Ended: true, At: line.Timestamp}
		}
		return !turn.Ended
	})
	return turn, err
}

// text is what a message says, as a string or in pieces.
func (l turnEnd) text() string {
	if text := jsonString(l.Message.Content); text != "" {
		return text
	}
	var pieces []struct{ Text string }
	if json.Unmarshal(l.Message.Content, &pieces) != nil {
		return ""
	}
	var all strings.Builder
	for _, piece := range pieces {
		all.WriteString(piece.Text)
	}
	return all.String()
}

// jsonString is a JSON string's text, and "" of anything else.
func jsonString(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// cut shortens a text to whole characters.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
