package api

import (
	"encoding/json"
	"regexp"
	"strings"
)

// message is the part of a Messages API request that decides the answer.
type message struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Messages     []turn          `json:"messages"`
	System       json.RawMessage `json:"system"`
	Tools        []tool          `json:"tools"`
	ToolChoice   toolChoice      `json:"tool_choice"`
	OutputFormat format          `json:"output_format"`
	OutputConfig struct {
		Format format `json:"format"`
	} `json:"output_config"`
}

type turn struct {
	Role    string `json:"role"`
	Content blocks `json:"content"`
}

type block struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	ToolUseID string `json:"tool_use_id"`
	Content   blocks `json:"content"`
}

// blocks reads both forms of content: a list of blocks and a mere string.
type blocks []block

func (b *blocks) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*b = blocks{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]block)(b))
}

type tool struct {
	Name        string `json:"name"`
	InputSchema schema `json:"input_schema"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type format struct {
	Type   string `json:"type"`
	Schema schema `json:"schema"`
}

// injected matches what a client adds to the text of its user.
var injected = regexp.MustCompile(`(?s)<(` + injectedTags + `)>.*?</(` + injectedTags + `)>`)

const injectedTags = "system-reminder|command-message|command-name|command-args|local-command-caveat|local-command-stdout"

// userText is what the user said in a block; empty when nothing.
func userText(b block) string {
	if b.Type != "text" {
		return ""
	}
	return strings.TrimSpace(injected.ReplaceAllString(b.Text, ""))
}

// userTexts lists every text of the user, oldest first.
func (m message) userTexts() []string {
	var texts []string
	for _, t := range m.Messages {
		if t.Role == "user" {
			texts = append(texts, t.Content.texts()...)
		}
	}
	return texts
}

// texts are what the user said in a message. A block of slashes is joined to the next block: a client splits a text
// there to keep it from being a command.
func (b blocks) texts() []string {
	var texts []string
	slashes := ""
	for _, part := range b {
		switch text := userText(part); {
		case text == "" || text == clientsOwn || strings.HasPrefix(text, interrupted) || strings.HasPrefix(text, pictured):
		case strings.Trim(text, "/ \n") == "":
			slashes = text
		default:
			texts, slashes = append(texts, slashes+text), ""
		}
	}
	if slashes != "" {
		texts = append(texts, slashes)
	}
	return texts
}

// clientsOwn is the text that the client itself adds to a conversation whose last turn was cut short.
const clientsOwn = "Continue from where you left off."

// interrupted begins the note that the client makes about a turn that its user has stopped.
const interrupted = "[Request interrupted by user"

// pictured begins the note that the client makes about a picture that its user has sent.
const pictured = "[Image: "

// terse reports whether the client's system prompt asks for few words.
func (m message) terse() bool { return strings.Contains(string(m.System), "Be terse.") }

// lastTurn returns what the user's side sent since the last answer: the newest user text, and the result of a tool if
// there is one. A failed prompt is sent again before the next one, and the client puts messages of role "system"
// behind the user's: neither is the newest text.
func (m message) lastTurn() (text, toolResult string, isToolResult bool) {
	since := m.sinceLastAnswer()
	if texts := since.texts(); len(texts) > 0 {
		text = texts[len(texts)-1]
	}
	for _, b := range since {
		if b.Type == "tool_result" {
			toolResult, isToolResult = joined(b.Content), true
		}
	}
	return text, toolResult, isToolResult
}

func (m message) sinceLastAnswer() blocks {
	var since blocks
	for _, t := range m.Messages {
		switch t.Role {
		case "assistant":
			since = nil
		case "user":
			since = append(since, t.Content...)
		}
	}
	return since
}

func joined(content blocks) string {
	var parts []string
	for _, b := range content {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
