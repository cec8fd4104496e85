package journal

import (
	"io"
	"os"
	"sync"

	"nbs-worker/internal/agent"
)

// memory caches the last session id of each agent in the journal, by key. Reading the journal takes time, and one
// command may find many damaged records.
type memory struct {
	mu   sync.Mutex
	size int64 // of the journal that was read; it only grows
	ids  map[string]agent.SessionID
}

// recent is the number of bytes at the end of the journal that are searched for the latest ids: some hundred
// thousand events.
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
	j.memory.mu.Lock()
	defer j.memory.mu.Unlock()
	if j.memory.ids == nil || j.memory.size != info.Size() {
		last := io.NewSectionReader(f, max(0, info.Size()-recent), recent) // it may begin within a line, which is then not an event
		j.memory.ids, j.memory.size = lastSessionIDs(last), info.Size()
	}
	return j.memory.ids[handle.Key()]
}

// lastSessionIDs reads a journal, and skips lines that are not events.
func lastSessionIDs(journal io.Reader) map[string]agent.SessionID {
	last := map[string]agent.SessionID{}
	for lines := readFrom(journal, chain{}, 0); ; {
		line, err := lines.next()
		if err != nil {
			return last
		}
		if id, err := agent.ParseSessionID(string(line.SessionID)); err == nil {
			last[line.Handle.Key()] = id
		}
	}
}
