package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// Claude writes a prompt into its history before it writes the transcript, by 0.45 s when
// the prompt came with the start. Killed or hung up in between, it leaves a mention of a
// conversation of which nothing was ever on disk. It has not been lost, but only a proof may
// say so: two are known.

// cleanupFloor is far less than the days after which Claude deletes a transcript.
const cleanupFloor = time.Hour

// endedUnspoken is the first proof: the launcher looks for a transcript when claude has
// ended, and after a short life it found none.
func endedUnspoken(record *agent.Record) bool {
	if record.Process == nil {
		return false
	}
	exit := record.ExitOf(record.Process.Invocation)
	return exit != nil && exit.Unspoken && exit.UptimeS < int64(cleanupFloor/time.Second)
}

// clockGrain is more than the kernel's stamps on files lag behind the clock.
const clockGrain = 20 * time.Millisecond

// unchangedSinceMention is the second proof, where the launcher was killed too: a file that
// is made, deleted or restored changes its folder, and no folder of transcripts has changed
// since the conversation was first mentioned. The inode's own time counts: unlike the time of
// modification it cannot be put back by whoever restores a backup.
func (c Config) unchangedSinceMention(id agent.SessionID) bool {
	mention, known := c.firstMention(id)
	if !known {
		return false
	}
	projects := filepath.Join(c.dir, "projects")
	entries, err := os.ReadDir(projects)
	if err != nil {
		return false
	}
	folders := []string{projects}
	for _, entry := range entries {
		folders = append(folders, filepath.Join(projects, entry.Name()))
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
	f, err := os.Open(filepath.Join(c.dir, "history.jsonl"))
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
