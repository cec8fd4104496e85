package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"time"

	"nbs-worker/internal/agent"
)

// History is the path of Claude's history of prompts, one a line, of all conversations. Claude
// writes a prompt into it a moment before it writes the transcript.
type History string

// Mentions tells whether the history names the conversation: it then had a first prompt, and so a transcript, whatever is on disk now.
func (h History) Mentions(id agent.SessionID) (bool, error) {
	f, err := openRegular(string(h))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	return streamContains(f, []byte(`"`+string(id)+`"`))
}

// FirstMention is when a prompt was first sent in the conversation, as the history has it.
func (h History) FirstMention(id agent.SessionID) (at time.Time, known bool) {
	f, err := openRegular(string(h))
	if err != nil {
		return at, false
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var prompt struct {
			SessionID agent.SessionID `json:"sessionId"`
			Timestamp int64           `json:"timestamp"` // milliseconds
		}
		if bytes.Contains(line, []byte(id)) && json.Unmarshal(line, &prompt) == nil && prompt.SessionID == id {
			return time.UnixMilli(prompt.Timestamp), prompt.Timestamp > 0
		}
		if err != nil {
			return at, false
		}
	}
}
