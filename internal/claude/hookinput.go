package claude

import (
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

// Hook is what claude tells a hook.
type Hook struct {
	Event        string          `json:"hook_event_name"`
	SessionID    agent.SessionID `json:"session_id"`
	Subagent     string          `json:"agent_id"`          // of whom it tells; "": of the agent itself
	Source       string          `json:"source"`            // of SessionStart: startup, resume, clear, compact
	Title        string          `json:"session_title"`     // of SessionStart
	Reason       string          `json:"reason"`            // of SessionEnd
	Error        string          `json:"error"`             // of StopFailure: its class
	Notification string          `json:"notification_type"` // of Notification
	Tool         string          `json:"tool_name"`
	Transcript   string          `json:"transcript_path"`
	Trigger      string          `json:"trigger"`          // of a compaction: manual, auto
	Background   []task          `json:"background_tasks"` // of Stop: what goes on
}

type task struct {
	Type string `json:"type"`
}

// ReadHook reads what claude writes to a hook, to its end.
func ReadHook(in io.Reader) (Hook, error) {
	var hook Hook
	if _, err := readInput(in, &hook); err != nil {
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
	return text, json.Unmarshal(text, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// plainWord makes a word of claude's safe to keep and to show.
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
