package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// LastWritten returns when the conversation grew last: its own file, or that of one of its subagents. Claude writes
// those to a folder beside it while the main conversation waits for them.
func (t File) LastWritten() (at time.Time, bySubagent bool) {
	at = t.Modified
	entries, _ := os.ReadDir(t.Subagents()) // most conversations have none
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().After(at) {
			at, bySubagent = info.ModTime(), true
		}
	}
	return at, bySubagent
}

// Subagents returns the folder of the subagents' transcripts, which may not exist.
func (t File) Subagents() string {
	return filepath.Join(strings.TrimSuffix(t.Path, ".jsonl"), "subagents")
}
