package journal

import (
	"io"
	"os"

	"nbs-worker/internal/agent"
)

// recent is the number of bytes at the end of the journal that are searched for the latest id: some hundred thousand
// events.
const recent = 64 << 20

// LastSessionID returns the id that the journal names last for the handle, or "". It reads the
// last 64 MiB.
func (j *Journal) LastSessionID(handle agent.Handle) agent.SessionID {
	f, err := j.nbs.OpenRegular(fileName, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	return lastSessionID(io.NewSectionReader(f, max(0, info.Size()-recent), recent), handle) // it may begin within a line, which is then not an event
}

// lastSessionID reads a journal, and skips lines that are not events.
func lastSessionID(journal io.Reader, handle agent.Handle) (last agent.SessionID) {
	for lines := readFrom(journal, chain{}, 0); ; {
		line, err := lines.next()
		if err != nil {
			return last
		}
		if id, err := agent.ParseSessionID(string(line.SessionID)); err == nil && line.Handle.Key() == handle.Key() {
			last = id
		}
	}
}
