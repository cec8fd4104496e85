package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"nbs-worker/internal/agent"
)

// History is the path of Claude's history of the prompts of all conversations, one per line. Claude
// writes a prompt into it a moment before it writes the transcript.
type History string

// FirstMention finds the first prompt that was sent in a conversation. A mentioned conversation had a transcript, or
// was about to get one, whatever is on disk now. at is the time of the prompt, or zero if that is not known.
func (h History) FirstMention(id agent.SessionID) (at time.Time, mentioned bool, err error) {
	f, err := openRegular(string(h))
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
	if unmarshalRecord(line, &prompt) == nil && prompt.Timestamp > 0 {
		at = time.UnixMilli(prompt.Timestamp)
	}
	return at
}
