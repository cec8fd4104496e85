package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
	lines, err := t.tail(apiErrorReach)
	if err != nil {
		return Turn{}, err
	}
	for i := len(lines) - 1; i >= 0; i-- {
		var line turnEnd
		if !bytes.Contains(lines[i], []byte(`"assistant"`)) || json.Unmarshal(lines[i], &line) != nil || line.Type != "assistant" || line.IsSidechain {
			continue
		}
		if line.IsAPIError {
			return Turn{Ended: true, At: line.Timestamp, Error: &APIError{Class: jsonString(line.Error), Text: cut(line.text(), apiErrorText)}}, nil
		}
		if line.Message.Model != "<synthetic>" {
			return Turn{Ended: true, At: line.Timestamp}, nil
		}
	}
	return Turn{}, nil
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

// tail reads the whole lines at the end of a transcript.
func (t File) tail(reach int64) ([][]byte, error) {
	f, err := openRegular(t.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	from := max(0, t.Size-reach)
	text := make([]byte, t.Size-from)
	n, err := f.ReadAt(text, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	lines := bytes.Split(text[:n], []byte{'\n'})
	if from > 0 {
		lines = lines[1:] // cut short
	}
	return lines, nil
}
