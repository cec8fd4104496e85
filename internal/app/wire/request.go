package wire

import (
	"encoding/json"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/answer"
)

// Request is what an agent asks a person for.
type Request struct {
	Handle         agent.Handle      `json:"handle"`
	ID             string            `json:"id"`
	Since          *time.Time        `json:"since"`
	Tool           string            `json:"tool"`
	Title          string            `json:"title"`           // what is asked, in one line
	Text           string            `json:"text"`            // the input whole, in lines for people
	Input          json.RawMessage   `json:"input"`           // of the tool, as Claude wrote it
	Questions      []RequestQuestion `json:"questions"`       // empty: it is approved or denied
	Always         []string          `json:"always"`          // the rules that Claude suggests, in words
	PermissionMode string            `json:"permission_mode"` // of the agent when it asked
	SessionID      agent.SessionID   `json:"session_id"`
}

// RequestQuestion is a question of a request. It is also answered with words that are no option.
type RequestQuestion struct {
	Text    string          `json:"text"`
	Several bool            `json:"several"` // more than one option may be chosen
	Options []RequestOption `json:"options"`
}

// RequestOption is an option of a question.
type RequestOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// NewRequest converts an open request.
func NewRequest(r requests.Request) Request {
	text := answer.Describe(r)
	input := r.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	return Request{
		Handle: r.Handle, ID: r.ID, Since: timeOf(r.At), Tool: r.Tool, Title: text.Title, Text: text.Body, Input: input,
		Questions: agent.Mapped(text.Questions, newRequestQuestion), Always: list(text.Always), PermissionMode: r.Mode, SessionID: r.SessionID,
	}
}

func newRequestQuestion(q answer.Question) RequestQuestion {
	return RequestQuestion{Text: q.Text, Several: q.Several, Options: agent.Mapped(q.Options, func(o answer.Option) RequestOption {
		return RequestOption{Label: o.Label, Description: o.Description}
	})}
}

// Answered is the proved answer to a request.
type Answered struct {
	Handle agent.Handle `json:"handle"`
	ID     string       `json:"id"`
	Tool   string       `json:"tool"`
	Title  string       `json:"title"`
	Answer string       `json:"answer"` // "allowed", "denied" or "answered"
	Rules  []string     `json:"rules"`  // that hold from now on, in words
	By     string       `json:"by"`
}

// NewAnswered converts the receipt of an answer.
func NewAnswered(r answer.Receipt) Answered {
	return Answered{
		Handle: r.Request.Handle, ID: r.Request.ID, Tool: r.Request.Tool, Title: answer.Describe(r.Request).Title,
		Answer: r.Words(), Rules: list(r.Rules), By: r.Answer.By,
	}
}
