package transcript

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"nbs-worker/internal/claude/jsonl"
)

// Marked is what a transcript has of a turn with a known mark.
type Marked struct {
	Found    bool     // the text is in the conversation
	Answered bool     // the turn was answered, with Answer
	Answer   string   // the last words; what was said before a tool was used is not among them
	Tools    bool     // a tool was asked for: it may have run, even if nothing shows that
	Used     []string // the names of those tools
	Stopped  bool     // the transcript says that it was interrupted
	Denied   []Denied // those of them that Claude was not permitted
	Failure  string   // class of the error of the API with which the turn ended, as Claude names it; "": it did not end so
	Status   int      // of that error, as of HTTP; 0: unknown, as before 2.1.329
	Detail   string   // what claude said of that error
}

// Denied is a use of a tool that Claude was not permitted.
type Denied struct {
	Tool  string
	Input []byte // JSON
}

// denials are how the results of tools begin that were refused, up to 2.1.329.
var denials = []string{"Permission to use ", "Claude requested permissions to "}

// denied returns the ids of the uses of tools that were refused, of the results in a record.
func (r *conversationRecord) denied() (ids []string) {
	if r.Type != "user" {
		return nil
	}
	for _, b := range blocksOf(r.message().Content) {
		begins := func(words string) bool { return strings.HasPrefix(textOfBlocks(blocksOf(b.Content)), words) }
		if b.Type == "tool_result" && b.IsError && (r.Decision.Decision == "reject" || slices.ContainsFunc(denials, begins)) {
			ids = append(ids, b.ResultOf)
		}
	}
	return ids
}

// Marked looks up a turn by the newest record in which the output of a hook begins with marker. If a killed claude
// has written only the text, it looks it up by the id of the text. A missing file has no turn.
func (t File) Marked(marker, text string) (Marked, error) {
	uuid, from, err := t.findMarked(marker, text)
	if err != nil || uuid == "" {
		return Marked{}, err
	}
	turn, err := t.turnBehind(from, uuid, (*conversationRecord).opensTurn)
	return markedIn(turn), err
}

// findMarked finds the record of a turn, and an offset behind which all records of the turn are. uuid is "" if the
// record is missing.
func (t File) findMarked(marker, text string) (uuid string, from int64, err error) {
	f, err := t.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	end, err := jsonl.EndOfLines(f)
	if err != nil {
		return "", 0, err
	}
	lines := jsonl.BackwardFrom(f, end)
	for further := disorder; further > 0; {
		at, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", 0, err
		}
		from = at.Start
		if uuid != "" {
			further--
			continue
		}
		record, err := readRecord(f, at)
		if err != nil {
			return "", 0, err
		}
		if record.hasMarker(marker) || record.Type == "user" && record.UUID == text {
			uuid = record.UUID
		}
	}
	return uuid, from, nil
}

// hasMarker reports whether a record is the output of a hook that begins with marker.
func (r *conversationRecord) hasMarker(marker string) bool {
	var attachment struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	return r.Type == "attachment" && len(r.Attachment) > 0 && unmarshalRecord(r.Attachment, &attachment) == nil &&
		attachment.Type == "hook_success" && strings.HasPrefix(attachment.Content, marker)
}

// opensTurn reports whether a record is a text of the user.
func (r *conversationRecord) opensTurn() bool {
	if r.Type != "user" || r.IsMeta || r.IsSummary {
		return false
	}
	for _, b := range blocksOf(r.message().Content) {
		if b.Type == "text" && !strings.HasPrefix(b.Text, interrupted) {
			return true
		}
	}
	return false
}

// markedIn evaluates the records of a turn, in order.
func markedIn(turn []*conversationRecord) Marked {
	marked := Marked{Found: true}
	var said []string
	uses := map[string]Denied{}
	for _, r := range turn {
		for _, id := range r.denied() {
			if use, is := uses[id]; is {
				marked.Denied = append(marked.Denied, use)
			}
		}
		if r.Type != "assistant" {
			marked.Stopped = marked.Stopped || r.interrupts()
			continue
		}
		message := r.message()
		blocks := blocksOf(message.Content)
		if r.IsAPIError {
			return Marked{Found: true, Tools: marked.Tools, Used: marked.Used, Failure: r.failure(), Status: r.Status, Detail: textOfBlocks(blocks)}
		}
		if message.Model == synthetic { // such as "No response requested.", with which claude closes a turn that was cut short
			continue
		}
		for _, b := range blocks {
			switch b.Type {
			case "text":
				said = append(said, b.Text)
			case "tool_use", "server_tool_use":
				marked.Tools, said = true, nil
				uses[b.ID] = Denied{b.Name, b.Input}
				if !slices.Contains(marked.Used, b.Name) {
					marked.Used = append(marked.Used, b.Name)
				}
			}
		}
		if reason := message.StopReason; reason != "" && reason != "tool_use" && reason != "pause_turn" {
			marked.Answered, marked.Answer = true, strings.Join(said, "\n")
		}
	}
	return marked
}
