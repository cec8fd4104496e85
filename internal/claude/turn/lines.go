package turn

import (
	"encoding/json"
	"errors"
	"strings"

	"nbs-worker/internal/agent"
)

// said is a line of claude's input.
type said struct {
	Type    string      `json:"type"`
	UUID    string      `json:"uuid"` // claude repeats it with what belongs to the text
	Message saidMessage `json:"message"`
}

type saidMessage struct {
	Role    string      `json:"role"`
	Content []saidBlock `json:"content"`
}

type saidBlock struct {
	Type   string       `json:"type"`
	Text   string       `json:"text,omitempty"`
	Source *imageSource `json:"source,omitempty"`
}

// line holds what is used of a line of claude's output.
type line struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
	ParentUse string `json:"parent_tool_use_id"` // of what a subagent says

	IsReplay bool            `json:"isReplay"` // type user
	Error    json.RawMessage `json:"error"`    // type assistant: class of an error of the API, as a string
	Event    struct {        // type stream_event
		Type  string `json:"type"`
		Delta struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"delta"`
	} `json:"event"`
	RateLimit struct { // type rate_limit_event
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"` // seconds since 1970
	} `json:"rate_limit_info"`

	result
}

// decode reads a line of JSON. A field of an unexpected type is skipped.
func decode(data []byte, into any) bool {
	err := json.Unmarshal(data, into)
	_, form := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || form
}

// result holds the used fields of a line of type "result".
type result struct {
	IsError   bool     `json:"is_error"`
	Status    int      `json:"api_error_status"`
	Text      string   `json:"result"`
	Errors    []string `json:"errors"`
	NumTurns  int      `json:"num_turns"`
	OfMessage string   `json:"user_message_uuid"` // since 2.1.329
	TotalUSD  *float64 `json:"total_cost_usd"`    // of the process; since 2.1.329 of the conversation
	Models    map[string]struct {
		CostUSD float64 `json:"costUSD"`
	} `json:"model_usage_since_last_result"` // since 2.1.329
	Usage struct {
		Input         int `json:"input_tokens"`
		Output        int `json:"output_tokens"`
		CacheRead     int `json:"cache_read_input_tokens"`
		CacheCreation int `json:"cache_creation_input_tokens"`
	} `json:"usage"`
	Denials []struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
	} `json:"permission_denials"`
}

// listener collects claude's output about one turn.
type listener struct {
	id    string // of its text
	heard func(Event)
	over  chan struct{}
	end   end
}

// line handles a line of the turn, or of claude's own activity during it. It returns the event to pass on, or nil.
func (t *listener) line(l line) *Event {
	switch {
	case l.ParentUse != "":
	case l.Type == "system" && l.Subtype == "init":
		return t.opened(agent.SessionID(l.SessionID))
	case l.Type == "user" && l.IsReplay && l.UUID == t.id:
		t.end.takenUp = true
		return &Event{Kind: TakenUp}
	case l.Type == "stream_event" && l.Event.Delta.Type == "text_delta":
		return &Event{Kind: Partial, Text: l.Event.Delta.Text}
	case l.Type == "assistant":
		t.end.failure = ""
		_ = json.Unmarshal(l.Error, &t.end.failure) // another form is no class
	case l.Type == "rate_limit_event" && l.RateLimit.Status == "rejected":
		t.end.limitedUntil = l.RateLimit.ResetsAt
	case l.Type == "result" && t.ended(l):
		t.end.result, t.end.subtype, t.end.session = &l.result, l.Subtype, agent.SessionID(l.SessionID)
		close(t.over)
	}
	return nil
}

// ended reports whether a result is the turn's own. A claude that stays may run a turn of its own, for example when a
// background task has ended. A result with NumTurns 0 is the turn's own although no text was taken up for it.
func (t *listener) ended(l line) bool {
	if t.end.result != nil || l.OfMessage != "" && l.OfMessage != t.id {
		return false
	}
	return t.end.takenUp || l.NumTurns == 0
}

func (t *listener) opened(id agent.SessionID) *Event {
	if id == "" || t.end.session == id {
		return nil
	}
	t.end.session = id
	return &Event{Kind: Confirmed, SessionID: id}
}

// blocks returns a text in the blocks that are sent. Claude takes a text whose last block begins with a slash for a
// command ("/clear" would begin another conversation), so leading slashes get a block of their own; the model reads
// the blocks as one text.
func blocks(text string) []saidBlock {
	trimmed := strings.TrimSpace(text)
	if rest := strings.TrimLeft(trimmed, "/ \t\n"); rest != trimmed && rest != "" {
		return []saidBlock{{Type: "text", Text: strings.TrimSuffix(trimmed, rest)}, {Type: "text", Text: rest}}
	}
	return []saidBlock{{Type: "text", Text: text}}
}
