package turn

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"nbs-worker/internal/claude/jsonl"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/human"
)

// Mark is what a transcript shows of a turn.
type Mark struct {
	Found    bool   // the text is in the conversation
	Answered bool   // the turn was answered, with Answer
	Answer   string // the last words; what was said before a tool was used is not among them
	Tools    bool   // a tool was asked for: it may have run, even if nothing shows that
	Class    Class  // of the error of the API with which the turn ended; "": it did not end so
	Detail   string // what claude said of that error
}

// Marked looks a turn up: by the newest record that has its [Marker], or by the [TextID] of its text where a
// killed claude had written only the text. Without a file it is not found. A turn that is not found may still
// have been sent to the API: 2.1.197 writes a little later, and when it is killed in between it leaves nothing,
// not even the file.
func Marked(file transcript.File, invocation string, seq int) (Mark, error) {
	f, err := os.Open(file.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{}, nil
	}
	if err != nil {
		return Mark{}, err
	}
	defer f.Close()
	end, err := jsonl.EndOfLines(f)
	if err != nil {
		return Mark{}, err
	}
	lines := jsonl.BackwardFrom(f, end)
	uuid, from, err := findMarker(f, lines, Marker(invocation, seq), TextID(invocation, seq))
	if err != nil || uuid == "" {
		return Mark{}, err
	}
	mark, err := markFrom(f, from, uuid)
	if err != nil || mark.Answered && mark.Answer != "" { // most often nothing of the turn stands before the marker
		return mark, err
	}
	for range disorder {
		span, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Mark{}, err
		}
		from = span.Start
	}
	return markFrom(f, from, uuid)
}

// markFrom evaluates what stands of a turn from an offset on.
func markFrom(f *os.File, from int64, uuid string) (Mark, error) {
	records, err := recordsFrom(f, from)
	if err != nil {
		return Mark{}, err
	}
	return markOf(turnBehind(uuid, records)), nil
}

// record holds what is used of a line of a transcript.
type record struct {
	Type          string          `json:"type"`
	UUID          string          `json:"uuid"`
	Parent        string          `json:"parentUuid"`
	LogicalParent string          `json:"logicalParentUuid"` // of a compaction: what stood before it
	IsSidechain   bool            `json:"isSidechain"`
	IsMeta        bool            `json:"isMeta"`
	IsSummary     bool            `json:"isCompactSummary"`
	IsAPIError    bool            `json:"isApiErrorMessage"`
	Status        int             `json:"apiErrorStatus"` // since 2.1.329
	Error         json.RawMessage `json:"error"`
	Message       struct {
		Model      string          `json:"model"`
		Content    json.RawMessage `json:"content"`
		StopReason string          `json:"stop_reason"`
	} `json:"message"`
	Attachment struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	} `json:"attachment"`
}

// disorder is how many records away from its place a record may be: 2.1.197 writes some answers
// before their questions.
const disorder = 100

// findMarker finds the newest record with a turn's marker or the id of its text, and its offset. uuid is "" when there
// is none.
func findMarker(f *os.File, lines *jsonl.Backward, marker, text string) (uuid string, at int64, err error) {
	for {
		span, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return "", 0, nil
		}
		if err != nil {
			return "", 0, err
		}
		line, err := read(f, span)
		if err != nil {
			return "", 0, err
		}
		var r record
		if !bytes.Contains(line, []byte(`"attachment"`)) && !bytes.Contains(line, []byte(text)) {
			continue
		}
		if decode(line, &r) && (r.hasMarker(marker) || r.Type == "user" && r.UUID == text) {
			return r.UUID, span.Start, nil
		}
	}
}

// hasMarker tells whether a record is the output of the hook of a turn.
func (r *record) hasMarker(marker string) bool {
	return r.Type == "attachment" && r.Attachment.Type == "hook_success" && strings.HasPrefix(r.Attachment.Content, marker)
}

// recordsFrom returns the records of a conversation from an offset on. Other lines are skipped.
func recordsFrom(f *os.File, from int64) ([]record, error) {
	var records []record
	lines := jsonl.ForwardFrom(f, from)
	for {
		span, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		line, err := read(f, span)
		if err != nil {
			return nil, err
		}
		var r record
		if decode(line, &r) && r.UUID != "" && !r.IsSidechain {
			if r.Parent == "" {
				r.Parent = r.LogicalParent
			}
			records = append(records, r)
		}
	}
}

func read(f *os.File, span jsonl.Span) ([]byte, error) {
	line := make([]byte, span.Len())
	_, err := f.ReadAt(line, span.Start)
	return line, err
}

// turnBehind returns the records that descend from another one, up to the next text of the user,
// each after its parent.
func turnBehind(uuid string, records []record) []*record {
	children := map[string][]*record{}
	for i := range records {
		if r := &records[i]; !r.opensTurn() && r.UUID != uuid {
			children[r.Parent] = append(children[r.Parent], r)
		}
	}
	var turn []*record
	for level := []string{uuid}; len(level) > 0 && len(turn) <= len(records); {
		var next []string
		for _, parent := range level {
			for _, r := range children[parent] {
				turn, next = append(turn, r), append(next, r.UUID)
			}
			delete(children, parent) // a damaged file may go in a circle
		}
		level = next
	}
	return turn
}

// opensTurn tells whether a record is a text of the user.
func (r *record) opensTurn() bool {
	if r.Type != "user" || r.IsMeta || r.IsSummary {
		return false
	}
	for _, b := range contentOf(r.Message.Content) {
		if b.Type == "text" && !strings.HasPrefix(b.Text, "[Request interrupted by user") {
			return true
		}
	}
	return false
}

// content is a part of a message.
type content struct{ Type, Text string }

// contentOf returns the parts of a content, which is a text or a list.
func contentOf(data json.RawMessage) (parts []content) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return []content{{"text", text}}
	}
	_ = json.Unmarshal(data, &parts) // another form has none
	return parts
}

// synthetic is the model of what claude itself has put in the place of an answer, such as the
// "No response requested." with which it closes a turn that was cut short.
const synthetic = "<synthetic>"

// markOf evaluates the records of a turn, which are in order.
func markOf(turn []*record) Mark {
	mark := Mark{Found: true}
	var said []string
	for _, r := range turn {
		if r.Type != "assistant" {
			continue
		}
		parts := contentOf(r.Message.Content)
		if r.IsAPIError {
			mark.fail(r, parts)
			return mark
		}
		if r.Message.Model == synthetic {
			continue
		}
		for _, part := range parts {
			switch part.Type {
			case "text":
				said = append(said, part.Text)
			case "tool_use", "server_tool_use":
				mark.Tools, said = true, nil
			}
		}
		if endsTurn(r.Message.StopReason) {
			mark.Answered, mark.Answer = true, strings.Join(said, "\n")
		}
	}
	return mark
}

// endsTurn tells whether the model had no more to say.
func endsTurn(reason string) bool {
	return reason != "" && reason != "tool_use" && reason != "pause_turn"
}

// fail marks the turn as ended by the API error in a record.
func (m *Mark) fail(r *record, parts []content) {
	e := end{result: &result{IsError: true, Status: r.Status}, now: time.Now()}
	_ = json.Unmarshal(r.Error, &e.failure) // another form is no class
	for _, part := range parts {
		e.result.Text += part.Text
	}
	m.Answered, m.Answer = false, ""
	m.Class, m.Detail = e.classOf(e.result.Text), human.Cut(e.result.Text, detailKept)
}
