package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
)

// history is the path of Claude's history of the prompts of all conversations, one per line. Claude writes a prompt
// into it a moment before it writes the transcript.
func (c Config) history() string { return filepath.Join(c.dir, "history.jsonl") }

// firstMention finds the first prompt that was sent in a conversation. A mentioned conversation had a transcript, or
// was about to get one, whatever is on disk now. at is the time of the prompt, or zero if that is not known.
func (c Config) firstMention(id agent.SessionID) (at time.Time, mentioned bool, err error) {
	f, err := transcript.At(c.history()).Open()
	if errors.Is(err, os.ErrNotExist) {
		return at, false, nil
	}
	if err != nil {
		return at, false, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if bytes.Contains(line, []byte(`"`+string(id)+`"`)) {
			return promptedAt(line), true, nil
		}
		if errors.Is(err, io.EOF) {
			return at, false, nil
		}
		if err != nil {
			return at, false, err
		}
	}
}

func promptedAt(line []byte) (at time.Time) {
	var prompt struct {
		Timestamp int64 `json:"timestamp"` // milliseconds
	}
	if json.Unmarshal(line, &prompt) == nil && prompt.Timestamp > 0 {
		at = time.UnixMilli(prompt.Timestamp)
	}
	return at
}
