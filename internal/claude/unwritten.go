package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// Claude writes a prompt into its history before it writes the transcript, by 0.45 s when
// the prompt came with the start. Killed or hung up in between, it leaves a mention of a
// conversation of which nothing was ever on disk. It has not been lost, but only a proof may
// say so.

// clockGrain is more than the kernel's stamps on files lag behind the clock.
const clockGrain = 20 * time.Millisecond

// TranscriptFolder names the folder in which Claude keeps all transcripts, as it is now: its
// device and inode. "" where there is none yet.
func (c Config) TranscriptFolder() string {
	var stat unix.Stat_t
	if err := unix.Stat(c.projects(), &stat); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}

func (c Config) projects() string { return filepath.Join(c.dir, "projects") }

// neverWritten is the proof. A file that is made, deleted or restored changes its folder,
// and no folder of transcripts has changed since the conversation was first mentioned. The
// inode's own time counts, which a restored backup cannot put back. It must be the folder of
// the last start, not the one beneath a disk that is not mounted now; and a mention that is
// ahead of the clock, or of the file it stands in, tells of a clock that was set.
func (c Config) neverWritten(record *agent.Record) bool {
	if record.Process == nil || record.Process.Transcripts == "" || record.Process.Transcripts != c.TranscriptFolder() {
		return false
	}
	mention, known := c.firstMention(record.SessionID)
	written, err := changeTime(c.history())
	if !known || err != nil || mention.After(time.Now()) || mention.After(written.Add(clockGrain)) {
		return false
	}
	entries, err := os.ReadDir(c.projects())
	if err != nil {
		return false
	}
	folders := []string{c.projects()}
	for _, entry := range entries {
		folders = append(folders, filepath.Join(c.projects(), entry.Name()))
	}
	for _, folder := range folders {
		changed, err := changeTime(folder)
		if err != nil || !changed.Before(mention.Add(-clockGrain)) {
			return false
		}
	}
	return true
}

func changeTime(path string) (time.Time, error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return time.Time{}, err
	}
	return time.Unix(stat.Ctim.Unix()), nil
}

// firstMention is when a prompt was first sent in the conversation, as Claude's history
// has it.
func (c Config) firstMention(id agent.SessionID) (at time.Time, known bool) {
	f, err := openRegular(c.history())
	if err != nil {
		return at, false
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var prompt struct {
			SessionID agent.SessionID `json:"sessionId"`
			Timestamp int64           `json:"timestamp"` // milliseconds
		}
		if bytes.Contains(line, []byte(id)) && json.Unmarshal(line, &prompt) == nil && prompt.SessionID == id {
			return time.UnixMilli(prompt.Timestamp), prompt.Timestamp > 0
		}
		if err != nil {
			return at, false
		}
	}
}
