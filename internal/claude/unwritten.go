package claude

import (
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// Claude writes a prompt into its history before it writes the transcript, 0.45 s before if the prompt came with the
// start. If it is killed or hung up in between, the history mentions a conversation that was never on disk. Then
// nothing was lost, but that has to be proved.

// clockGrain is longer than the lag of the kernel's file timestamps behind the clock.
const clockGrain = 20 * time.Millisecond

// neverWritten reports whether it is proved that no transcript of the record's conversation was ever on disk. To
// create, delete or restore a file changes its folder, and no folder of transcripts has changed since the
// conversation was first mentioned. The inode's change time counts: a restored backup cannot set it back. The folder
// must be that of the last start, not the one beneath a disk that is not mounted now. A mention later than the clock,
// or than the change of the history file, proves nothing: the clock was set.
func (c Config) neverWritten(record *agent.Record) bool {
	if record.Process == nil || record.Process.Transcripts == "" || record.Process.Transcripts != c.TranscriptFolder() {
		return false
	}
	mention, _, err := c.firstMention(record.SessionID)
	written, statErr := changeTime(c.history())
	if err != nil || statErr != nil || mention.IsZero() || mention.After(time.Now()) || mention.After(written.Add(clockGrain)) {
		return false
	}
	folders, err := c.transcriptFolders()
	if err != nil {
		return false
	}
	for _, folder := range append(folders, c.projects()) { // changeTime fails when projects is gone
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
