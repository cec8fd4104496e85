package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// HasMessagesAfter tells whether a message of the conversation stands in the transcript
// behind an offset in bytes. Claude writes the file a moment before the first
// message: one that was killed in between leaves a stub in which nothing was said,
// and which it will neither resume nor take for a new session.
func (t File) HasMessagesAfter(offset int64) (bool, error) {
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
	var record conversationRecord
	return unmarshalRecord(line, &record) == nil && record.isMessage() && !record.IsSidechain
}
