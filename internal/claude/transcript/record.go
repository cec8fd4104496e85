package transcript

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"nbs-worker/internal/agent"
)

// Speaker is the author of a message.
type Speaker string

// The speakers.
const (
	You       Speaker = "you"
	Agent     Speaker = "agent"
	Tool      Speaker = "tool"
	Claude    Speaker = "claude"    // the program itself: what it told the agent or answered to a command
	Compacted Speaker = "compacted" // what was said before was replaced by a summary
)

// Message is one message of a conversation.
type Message struct {
	SessionID agent.SessionID // of the transcript's records
	At        time.Time       // zero: not known
	Speaker   Speaker
	Text      string
	Tool      string // name of the tool that the agent uses
	Failure   string // class of the API error that the text reports, as Claude names it
	Model     string // of the agent's words
	Aside     bool   // not said between a person and the agent: a summary, a reminder, a subagent
	Subagent  bool
	Copied    agent.SessionID // the conversation from which a /branch copied it
	Bytes     int64           // length of a record too long to be read, whose beginning is Text; 0 for others
}

// conversationRecord holds the used fields of a transcript line that is part of a conversation.
type conversationRecord struct {
	Type          string         `json:"type"`
	Subtype       string         `json:"subtype"`
	UUID          string         `json:"uuid"`
	Parent        string         `json:"parentUuid"`
	LogicalParent string         `json:"logicalParentUuid"` // of a compact boundary: what stood before it
	Timestamp     string         `json:"timestamp"`
	SessionID     string         `json:"sessionId"`
	IsSidechain   bool           `json:"isSidechain"`
	IsMeta        bool           `json:"isMeta"`
	IsSummary     bool           `json:"isCompactSummary"`
	IsAPIError    bool           `json:"isApiErrorMessage"`
	Status        int            `json:"apiErrorStatus"` // since 2.1.329
	Error         jsontext.Value `json:"error"`
	PromptSource  string         `json:"promptSource"`
	Origin        struct {       // of a text that no person has sent
		Kind string `json:"kind"`
	} `json:"origin"`
	Message    jsontext.Value `json:"message"`
	Attachment jsontext.Value `json:"attachment"`
	Compact    jsontext.Value `json:"compactMetadata"`
	Operation  string         `json:"operation"` // of the queue
	Content    jsontext.Value `json:"content"`   // of what was queued
	Decision   struct {       // on the use of a tool whose result it has; since 2.1.332
		Decision string `json:"decision"`
	} `json:"permissionDecision"`
	Cwd        string   `json:"cwd"`
	Version    string   `json:"version"`
	CostUSD    *float64 `json:"totalCostUSD"`   // of a cost-state: the sum over all resumes
	Mode       string   `json:"permissionMode"` // of type permission-mode
	ForkedFrom *struct {
		SessionID string `json:"sessionId"`
	} `json:"forkedFrom"`

	cut       int64 // length of the line, when it was too long to be read
	cutText   string
	cutResult bool
}

// parent returns the id of the record before, also across a compaction.
func (r *conversationRecord) parent() string {
	if r.Parent == "" {
		return r.LogicalParent
	}
	return r.Parent
}

// at returns when the record was written, or the zero time if it does not say.
func (r *conversationRecord) at() time.Time {
	at, _ := time.Parse(time.RFC3339, r.Timestamp)
	return at.UTC()
}

func (r *conversationRecord) isMessage() bool { return r.Type == "user" || r.Type == "assistant" }

func (r *conversationRecord) compacted() bool {
	return r.Type == "system" && r.Subtype == "compact_boundary"
}

// block is a part of a message's content.
type block struct {
	Type     string         `json:"type"`
	Text     string         `json:"text"`
	Name     string         `json:"name"`
	Input    jsontext.Value `json:"input"`
	Content  jsontext.Value `json:"content"`
	IsError  bool           `json:"is_error"`
	ID       string         `json:"id"`          // of the use of a tool
	ResultOf string         `json:"tool_use_id"` // of a result
}

// recordMessage is the message of a record.
type recordMessage struct {
	Model      string         `json:"model"`
	Content    jsontext.Value `json:"content"`
	StopReason string         `json:"stop_reason"`
	Usage      struct {
		Input         int `json:"input_tokens"`
		CacheCreation int `json:"cache_creation_input_tokens"`
		CacheRead     int `json:"cache_read_input_tokens"`
	} `json:"usage"`
}

// synthetic is the model of a message that Claude itself has written in place of a reply.
const synthetic = "<synthetic>"

// replied reports whether the record is a reply of the model to the agent itself.
func (r *conversationRecord) replied() bool {
	if r.Type != "assistant" || r.IsSidechain {
		return false
	}
	model := r.message().Model
	return model != "" && model != synthetic
}

func (r *conversationRecord) message() recordMessage {
	var m recordMessage
	if len(r.Message) == 0 || unmarshalRecord(r.Message, &m) != nil {
		return recordMessage{}
	}
	return m
}

// blocksOf returns the blocks of a content, which is a text or a list.
func blocksOf(content jsontext.Value) []block {
	var text string
	if len(content) == 0 {
		return nil
	}
	if content.Kind() == '"' && unmarshalRecord(content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var all []jsontext.Value
	if unmarshalRecord(content, &all) != nil {
		return nil
	}
	var blocks []block
	for _, value := range all {
		var b block
		if unmarshalRecord(value, &b) == nil {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// onlyResults reports whether a record contains only results of tools.
func (r *conversationRecord) onlyResults() bool {
	if r.cut > 0 {
		return r.cutResult
	}
	blocks := blocksOf(r.message().Content)
	return len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b block) bool { return b.Type != "tool_result" })
}

// messages returns the messages in a record.
func (r *conversationRecord) messages() []Message {
	base := Message{SessionID: agent.SessionID(r.SessionID), At: r.at(), Subagent: r.IsSidechain, Aside: r.IsSidechain, Bytes: r.cut}
	if r.ForkedFrom != nil {
		base.Copied = agent.SessionID(r.ForkedFrom.SessionID)
	}
	switch {
	case r.cut > 0:
		return r.cutMessages(base)
	case r.compacted():
		base.Speaker, base.Text = Compacted, r.compaction()
		return []Message{base}
	case r.Type == "attachment":
		return r.attached(base)
	case r.Type == "user":
		return r.userMessages(base)
	case r.Type == "assistant":
		return r.agentMessages(base)
	default:
		return nil
	}
}

func (r *conversationRecord) cutMessages(m Message) []Message {
	m.Text = r.cutText
	switch {
	case r.Type == "assistant":
		m.Speaker = Agent
	case r.Type != "user":
		return nil
	case r.cutResult:
		m.Speaker = Tool
	default:
		m.Speaker = You
		m.Aside = m.Aside || r.IsMeta
	}
	return []Message{m}
}

func (r *conversationRecord) compaction() string {
	meta := r.compactMetadata()
	if meta.PreTokens == 0 {
		return "the conversation was compacted"
	}
	return fmt.Sprintf("the conversation was compacted (%s), from %d tokens", meta.Trigger, meta.PreTokens)
}

// attached returns a message that was typed while a tool ran. It reached the agent with the tool's result and has no
// record of its own.
func (r *conversationRecord) attached(m Message) []Message {
	var attachment struct {
		Type   string         `json:"type"`
		Mode   string         `json:"commandMode"`
		Prompt jsontext.Value `json:"prompt"`
	}
	if len(r.Attachment) == 0 || unmarshalRecord(r.Attachment, &attachment) != nil || attachment.Type != "queued_command" {
		return nil
	}
	m.Speaker = You
	if attachment.Mode != "" && attachment.Mode != "prompt" { // such as a task's notification
		m.Speaker, m.Aside = Claude, true
	}
	m.Text = textOfBlocks(blocksOf(attachment.Prompt))
	return []Message{m}
}

// command matches a slash command in a transcript. It is compiled at the first message of a person.
var command = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^\s*(?:<command-message>[^<]*</command-message>\s*)?<command-name>(/[^<]*)</command-name>(?:.*?<command-args>(.*?)</command-args>)?`)
})

func (r *conversationRecord) userMessages(base Message) []Message {
	var all []Message
	for _, b := range blocksOf(r.message().Content) {
		m := base
		m.Speaker, m.Text = You, b.text()
		switch {
		case b.Type == "tool_result":
			m.Speaker, m.Text = Tool, textOfBlocks(blocksOf(b.Content))
			if b.IsError {
				m.Text = "failed: " + m.Text
			}
		case r.IsMeta || r.IsSummary || r.PromptSource == "system" || r.Origin.Kind == ofTask || strings.HasPrefix(m.Text, "<local-command-"):
			m.Speaker, m.Aside = Claude, true
		default:
			if typed := command().FindStringSubmatch(m.Text); typed != nil {
				m.Text = strings.TrimSpace(typed[1] + " " + typed[2])
			}
		}
		all = append(all, m)
	}
	return all
}

func (r *conversationRecord) agentMessages(base Message) []Message {
	message := r.message()
	base.Speaker = Agent
	if r.IsAPIError {
		base.Failure = r.failure()
	} else {
		base.Model = message.Model
	}
	var all []Message
	for _, b := range blocksOf(message.Content) {
		m := base
		switch b.Type {
		case "text":
			m.Text = b.Text
		case "tool_use", "server_tool_use":
			m.Speaker, m.Tool, m.Text = Tool, b.Name, string(b.Input)
		default:
			continue // thinking, which is signed and often empty
		}
		all = append(all, m)
	}
	return all
}

// failure returns the class of the API error in a record, as Claude names it.
func (r *conversationRecord) failure() string {
	class := ""
	if len(r.Error) > 0 {
		_ = unmarshalRecord(r.Error, &class) // another form is no class
	}
	return cmp.Or(class, "unknown")
}

// text returns a block as text.
func (b *block) text() string {
	if b.Type == "text" {
		return b.Text
	}
	return "[" + b.Type + "]"
}

func textOfBlocks(blocks []block) string {
	texts := make([]string, len(blocks))
	for i := range blocks {
		texts[i] = blocks[i].text()
	}
	return strings.Join(texts, "\n")
}
