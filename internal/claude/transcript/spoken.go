package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// HasMessagesAfter reports whether the transcript has a message of the conversation after an offset in bytes. Claude
// creates the file a moment before the first message. If it is killed in between, it leaves a stub without a message:
// it will neither resume that nor use its id for a new session.
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
