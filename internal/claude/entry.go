package claude

import (
	"io"
	"os"
	"syscall"

	"nbs-worker/internal/agent"
)

// Entry is the registry entry of a claude, held open. Claude writes it in place, and removes
// it when it leaves by itself: who holds it can still read what it said last.
type Entry struct {
	file *os.File
	pid  int
}

// Entry opens the registry entry of a process, for as long as this program lives. Errors: [os.ErrNotExist].
func (c Config) Entry(pid int) (*Entry, error) {
	file, err := os.OpenFile(c.RegistryEntry(pid), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe in its place keeps nobody
	if err != nil {
		return nil, err
	}
	return &Entry{file: file, pid: pid}, nil
}

// MovedTo is [Config.MovedTo] of a recorded process that has ended.
func (e *Entry) MovedTo(r *agent.Record, report agent.Report) (id agent.SessionID, moved bool) {
	data, err := io.ReadAll(io.NewSectionReader(e.file, 0, registryLimit))
	if err != nil {
		return "", false
	}
	live, err := parseLive(data, e.pid)
	if err != nil {
		return "", false
	}
	return live.MovedTo(r, report, 0)
}
