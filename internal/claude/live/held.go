package live

import (
	"io"
	"os"
	"syscall"

	"nbs-worker/internal/agent"
)

// Held is the open registry entry of a claude. Claude writes it in place, and removes it when it exits by itself.
// Through the open file the last content can still be read.
type Held struct {
	file *os.File
	pid  int
}

// Close closes the entry.
func (h *Held) Close() error { return h.file.Close() }

// Hold opens the entry of a process. Errors: [os.ErrNotExist].
func (r Registry) Hold(pid int) (*Held, error) {
	file, err := os.OpenFile(r.Path(pid), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe in its place does not block
	if err != nil {
		return nil, err
	}
	return &Held{file: file, pid: pid}, nil
}

// MovedTo is [Registry.MovedTo] of a recorded process that has ended.
func (h *Held) MovedTo(r *agent.Record, report agent.Report) (id agent.SessionID, moved bool) {
	data, err := io.ReadAll(io.NewSectionReader(h.file, 0, registryLimit))
	if err != nil {
		return "", false
	}
	entry, err := parseEntry(data, h.pid)
	if err != nil {
		return "", false
	}
	return entry.MovedTo(r, report, 0)
}
