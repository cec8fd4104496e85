package live

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nbs-worker/internal/agent"
)

// inputLimit bounds what claude writes to a hook, in bytes: the result of a tool and a
// pasted prompt are in it.
const inputLimit = 32 << 20

// Hook is claude's input to a hook.
type Hook struct {
	hookCore

	Error        string `json:"error"`                  // of StopFailure: its class
	Said         string `json:"last_assistant_message"` // of Stop and StopFailure: what stands on the screen
	Prompt       string `json:"prompt"`                 // of UserPromptSubmit
	Notification string `json:"notification_type"`      // of Notification
	Tool         string `json:"tool_name"`

	Input      jsontext.Value `json:"tool_input"`             // of the tool, whole
	Suggested  jsontext.Value `json:"permission_suggestions"` // of PermissionRequest: what "always" would add; nil: nothing
	Mode       string         `json:"permission_mode"`
	Trigger    string         `json:"trigger"`          // of a compaction: manual, auto
	Background []task         `json:"background_tasks"` // of Stop: what still runs
}

// hookCore holds the fields that every hook must have: they identify the agent's conversation.
type hookCore struct {
	Event      string          `json:"hook_event_name"`
	SessionID  agent.SessionID `json:"session_id"`
	Subagent   string          `json:"agent_id"`      // the subagent that the hook is about; "": the agent itself
	Source     string          `json:"source"`        // of SessionStart: startup, resume, clear, compact
	Title      string          `json:"session_title"` // of SessionStart
	Reason     string          `json:"reason"`        // of SessionEnd
	Transcript string          `json:"transcript_path"`
}

type task struct {
	Type string `json:"type"`
}

// ReadHook reads the whole input of a hook. If a later version of Claude gives a field another type, ReadHook still
// reads the core.
func ReadHook(in io.Reader) (Hook, error) {
	var hook Hook
	text, err := readInput(in, &hook)
	if _, otherForm := errors.AsType[*json.SemanticError](err); otherForm {
		hook = Hook{}
		err = unmarshal(text, &hook.hookCore)
	}
	if err != nil {
		return Hook{}, err
	}
	id, err := agent.ParseSessionID(string(hook.SessionID))
	if err != nil {
		return Hook{}, err
	}
	hook.SessionID = id
	for _, text := range []*string{&hook.Event, &hook.Reason, &hook.Error} {
		*text = plainWord(*text) // these are kept and shown
	}
	return hook, nil
}

func readInput(in io.Reader, into any) (text []byte, err error) {
	text, err = io.ReadAll(io.LimitReader(in, inputLimit))
	if err != nil {
		return nil, err
	}
	if len(text) == inputLimit {
		_, _ = io.Copy(io.Discard, in) // claude should not fail to write the rest
		return nil, fmt.Errorf("the input has more than %d bytes", inputLimit)
	}
	return text, unmarshal(text, into)
}

func unmarshal(text []byte, into any) error {
	return json.Unmarshal(text, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// plainWord makes a word from claude safe to keep and to show.
func plainWord(text string) string {
	const limit = 64
	text = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return -1
	}, text)
	return text[:min(len(text), limit)]
}
