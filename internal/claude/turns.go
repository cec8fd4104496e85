package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"nbs-worker/internal/agent"
)

// SpokenAfter tells whether a message of the conversation stands in the transcript
// behind an offset in bytes. Claude writes the file a moment before the first
// message: one that was killed in between leaves a stub in which nothing was said,
// and which it will neither resume nor take for a new session.
func (t Transcript) SpokenAfter(offset int64) (bool, error) {
	f, err := os.Open(t.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return false, err
	}
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if isMessage(line) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

func isMessage(line []byte) bool {
	if !bytes.Contains(line, []byte(`"user"`)) && !bytes.Contains(line, []byte(`"assistant"`)) {
		return false
	}
	var record transcriptRecord
	return json.Unmarshal(line, &record) == nil && (record.Type == "user" || record.Type == "assistant") && !record.IsSidechain
}

// Spoken tells whether the conversation has a transcript with a message in it.
func (c Config) Spoken(id agent.SessionID) (bool, error) {
	transcript, found, err := c.Transcript(id)
	if err != nil || !found {
		return false, err
	}
	return transcript.SpokenAfter(0)
}

// stubSuffix is what a stub is renamed by. Nothing was said in it, but it is
// Claude's file, so it is not removed.
const stubSuffix = ".unspoken"

// SetStubAside renames a transcript in which nothing was said, so that claude takes
// the session id for new. Without one it does nothing.
func (c Config) SetStubAside(id agent.SessionID) error {
	transcript, found, err := c.Transcript(id)
	if err != nil || !found {
		return err
	}
	spoken, err := transcript.SpokenAfter(0)
	if err != nil || spoken {
		return err
	}
	return os.Rename(transcript.Path, transcript.Path+stubSuffix)
}
