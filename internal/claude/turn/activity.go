package turn

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"
)

// Activity follows the events of a turn: when claude last gave a sign of life, which tools it used, and how often the
// API has refused it since. It is safe for concurrent use.
type Activity struct {
	mu       sync.Mutex
	last     time.Time
	tools    []*toolUse // in order
	refusals Refusals
}

type toolUse struct {
	id, name string // no name: it is not the turn's

	parent, message string // see [Event]

	ended  bool
	unused bool // it was refused, or its input was wrong: it did nothing
}

// Refusals is how often the API has refused a request in a row.
type Refusals struct {
	Count  int
	Status int // of the last one, as of HTTP; 0: there was no answer
}

// NewActivity returns the activity of a turn that begins now.
func NewActivity() *Activity { return &Activity{last: time.Now()} }

// Note takes an event of the turn. Every event is a sign of life, except a refusal by the API. When the model says
// something else, the tools of its message before have ended: the result of one never comes if the stream broke off
// behind it.
func (a *Activity) Note(e Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.Kind == Refused {
		a.refusals.Count++
		a.refusals.Status = e.Status
		return
	}
	a.last, a.refusals = time.Now(), Refusals{}
	for _, t := range a.tools {
		t.ended = t.ended || e.Message != "" && t.message != "" && e.Parent == t.parent && e.Message != t.message
	}
	switch e.Kind {
	case ToolBegan:
		a.tools = append(a.tools, &toolUse{id: e.ToolID, name: e.Tool, parent: e.Parent, message: e.Message})
	case ToolEnded:
		for _, t := range a.tools {
			if t.id == e.ToolID {
				t.ended, t.unused = true, e.Unused
			}
		}
	case Confirmed, TakenUp, Partial, Over, Refused, Lived:
	}
}

// SilentSince returns when claude gave its last sign of life; the present time while a tool runs.
func (a *Activity) SilentSince() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.ContainsFunc(a.tools, func(t *toolUse) bool { return !t.ended }) {
		return time.Now()
	}
	return a.last
}

// Refusals returns how often the API has refused claude since its last sign of life.
func (a *Activity) Refusals() Refusals {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refusals
}

// Acted returns the names of the tools that ran, in the order of their first use.
func (a *Activity) Acted() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var names []string
	for _, t := range a.tools {
		if t.name != "" && !t.unused && !slices.Contains(names, t.name) {
			names = append(names, t.name)
		}
	}
	return names
}

// signs returns the events about claude's activity in a line of its output, also in one of a subagent.
func signs(l *line, data []byte) []Event {
	switch {
	case l.Type == "system" && l.Subtype == "api_retry":
		var retry struct {
			Status int `json:"error_status"` // null: there was no answer
		}
		decode(data, &retry)
		return []Event{{Kind: Refused, Status: retry.Status}}
	case l.Type == "rate_limit_event": // it may come with each refusal
		return nil
	case l.Type == "assistant", l.Type == "user" && !l.IsReplay:
		return messageEvents(l.ParentUse, data)
	}
	return []Event{{Kind: Lived}}
}

// The beginnings of the results of tools that did not run, on both versions.
const (
	wrongUse    = "<tool_use_error>"
	unpermitted = "Claude requested permissions"
)

// messageEvents returns the events in a message. Each block of what the model says is a line of its own, complete,
// before its tool runs.
func messageEvents(parent string, data []byte) []Event {
	var l struct {
		Message struct {
			ID      string `json:"id"` // only of the model's
			Content []struct {
				Type    string          `json:"type"`
				ID      string          `json:"id"`
				Name    string          `json:"name"`
				Input   json.RawMessage `json:"input"`
				Of      string          `json:"tool_use_id"`
				IsError bool            `json:"is_error"`
				Content json.RawMessage `json:"content"`
			} `json:"content"`
		} `json:"message"`
	}
	decode(data, &l)
	events := []Event{{Kind: Lived, Parent: parent, Message: l.Message.ID}}
	for _, b := range l.Message.Content {
		switch b.Type {
		case "tool_use":
			events = append(events, Event{Kind: ToolBegan, Tool: b.Name, ToolID: b.ID, Text: purpose(b.Input), Parent: parent, Message: l.Message.ID})
		case "tool_result":
			var text string
			_ = json.Unmarshal(b.Content, &text) // another form is no refusal
			unused := b.IsError && (strings.HasPrefix(text, wrongUse) || strings.HasPrefix(text, unpermitted))
			events = append(events, Event{Kind: ToolEnded, ToolID: b.Of, Unused: unused})
		}
	}
	return events
}
