package claude

import (
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

// neverWritten proves that no transcript of the record's conversation was ever on disk. A file
// that is made, deleted or restored changes its folder, and no folder of transcripts has changed
// since the conversation was first mentioned. The inode's own time counts, which a restored
// backup cannot put back. It must be the folder of the last start, not the one beneath a disk that
// is not mounted now; and a mention that is ahead of the clock, or of the file it stands in, tells
// of a clock that was set.
func (c Config) neverWritten(record *agent.Record) bool {
	if record.Process == nil || record.Process.Transcripts == "" || record.Process.Transcripts != c.TranscriptFolder() {
		return false
	}
	mention, _, err := c.history().FirstMention(record.SessionID)
	written, statErr := changeTime(string(c.history()))
	if err != nil || statErr != nil || mention.IsZero() || mention.After(time.Now()) || mention.After(written.Add(clockGrain)) {
		return false
	}
	folders, err := c.transcriptFolders()
	if err != nil {
		return false
	}
	for _, folder := range append(folders, c.projects()) { // which cannot be looked at when it is gone
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
