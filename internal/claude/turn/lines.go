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

	Response struct { // type control_response
		Response struct {
			Commands []struct {
				Name    string   `json:"name"`
				Aliases []string `json:"aliases"`
			} `json:"commands"`
		} `json:"response"`
	} `json:"response"`

	Content       string `json:"content"` // type system, subtype informational
	Prevents      bool   `json:"prevent_continuation"`
	PromptOutcome struct {
		Reason string `json:"reason"` // why a hook refused the text; since 2.1.329
	} `json:"prompt_submit_outcome"`

	CommandUUID string `json:"command_uuid"` // type command_lifecycle: the id of a text; since 2.1.329
	taskLine
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
	Origin    struct { // of a turn that claude began by itself
		Kind string `json:"kind"`
	} `json:"origin"`
	TotalUSD *float64 `json:"total_cost_usd"` // of the process; since 2.1.329 of the conversation
	Models   map[string]struct {
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

	charged   bool // the result's cost is counted
	announced bool // claude has named the text before it begins the turn, as it does since 2.1.329
}

// line handles a line of the turn. It returns the event to pass on, or nil. own: claude is in a turn of its own.
func (t *listener) line(l line, own bool) *Event {
	switch {
	case l.ParentUse != "":
	case l.Type == "command_lifecycle" && l.CommandUUID == t.id:
		t.announced = true
	case l.Type == "system" && l.Subtype == "init":
		return t.opened(agent.SessionID(l.SessionID))
	case l.Type == "user" && l.IsReplay && l.UUID == t.id:
		t.end.takenUp = true
		return &Event{Kind: TakenUp}
	case l.Type == "result" && t.isOver(l):
		t.end.result, t.end.subtype, t.end.session = &l.result, l.Subtype, agent.SessionID(l.SessionID)
		return &Event{Kind: Over}
	case l.Type == "system" && l.Subtype == "informational" && l.Prevents:
		t.end.refusal, t.end.reason = l.Content, l.PromptOutcome.Reason
	case own || t.announced && !t.end.takenUp: // up to 2.1.197 the text is repeated after its answer has begun
	case l.Type == "stream_event" && l.Event.Delta.Type == "text_delta":
		return &Event{Kind: Partial, Text: l.Event.Delta.Text}
	case l.Type == "assistant":
		t.end.failure = ""
		_ = json.Unmarshal(l.Error, &t.end.failure) // another form is no class
	case l.Type == "rate_limit_event" && l.RateLimit.Status == "rejected":
		t.end.limitedUntil = l.RateLimit.ResetsAt
	}
	return nil
}

// isOver reports whether a result is the turn's. The result of a turn that claude began by itself, for example because a
// background task has ended, names its origin, and no text. Up to 2.1.197 no result names its text; one with NumTurns 0
// is then the turn's although no text was taken up for it: a hook refused the text, or claude could not open the
// conversation.
func (t *listener) isOver(l line) bool {
	switch {
	case t.end.result != nil:
		return false
	case l.OfMessage != "":
		return l.OfMessage == t.id
	case l.Origin.Kind != "":
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
