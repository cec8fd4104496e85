package claude

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
)

// The transcripts of Claude. Package transcript reads their contents.

func (c Config) projects() string { return filepath.Join(c.dir, "projects") }

// Transcript finds the file of a conversation; found is false if it does not exist. The folder's name is derived from
// the working directory, not reversibly and not uniquely, so the file is looked for in all folders. If one folder
// cannot be read and no other has the file, the result is unknown: an error. A closed folder of another user counts
// as empty: claude, which runs as this user, reads nothing there.
func (c Config) Transcript(id agent.SessionID) (t transcript.File, found bool, err error) {
	t, found, _, err = c.findTranscript(id)
	return t, found, err
}

// TranscriptOf is Transcript for the conversation of a record. A transcript that was seen on disk may be in a folder
// that belongs to another user now. While such a folder is closed, the result is unknown: an error.
func (c Config) TranscriptOf(r *agent.Record) (t transcript.File, found bool, err error) {
	t, found, closed, err := c.findTranscript(r.SessionID)
	if !found && err == nil && !r.TranscriptSeen.IsZero() {
		err = closed
	}
	return t, found, err
}

// findTranscript is Transcript. closed is why another user's folder was not read; nil if every folder was.
func (c Config) findTranscript(id agent.SessionID) (t transcript.File, found bool, closed, err error) {
	folders, err := c.transcriptFolders()
	if err != nil {
		return t, false, nil, err
	}
	var unknown error
	for _, folder := range folders {
		path := filepath.Join(folder, string(id)+".jsonl")
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // ENOTDIR: a file beside the folders
		case errors.Is(err, os.ErrPermission) && isOfAnotherUser(folder):
			closed = err
		case err != nil:
			unknown = err
		case info.Mode().IsRegular() && (!found || info.ModTime().After(t.Modified)):
			t, found = transcript.File{Path: path, Size: info.Size(), Modified: info.ModTime()}, true
		}
	}
	if found {
		return t, true, closed, nil
	}
	return t, false, closed, unknown
}

// isOfAnotherUser reports whether a folder is known to belong to another user, as after `sudo claude`.
func isOfAnotherUser(folder string) bool {
	var stat unix.Stat_t
	return unix.Stat(folder, &stat) == nil && int(stat.Uid) != os.Geteuid()
}

// HasMessages reports whether the conversation has a transcript with a message in it.
func (c Config) HasMessages(id agent.SessionID) (bool, error) {
	file, found, err := c.Transcript(id)
	if err != nil || !found {
		return false, err
	}
	return file.HasMessagesAfter(0)
}

// LastWords are [transcript.File.LastWords] of a conversation; "" without a transcript.
func (c Config) LastWords(id agent.SessionID) (model, mode string) {
	file, found, err := c.Transcript(id)
	if err != nil || !found {
		return "", ""
	}
	return file.LastWords()
}

// TranscriptFolder returns the device and inode of the folder in which Claude now keeps all transcripts, or "" if it
// does not exist yet.
func (c Config) TranscriptFolder() string {
	var stat unix.Stat_t
	if err := unix.Stat(c.projects(), &stat); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}

// IsFull reports whether the disk of the transcripts has no space left for this user.
func (c Config) IsFull() bool {
	var stat unix.Statfs_t
	return unix.Statfs(c.projects(), &stat) == nil && isFull(&stat, os.Geteuid())
}

// isFull reports whether a user can write no more to a disk. Root may use the blocks that are reserved for it.
func isFull(stat *unix.Statfs_t, uid int) bool {
	room := stat.Bavail
	if uid == 0 {
		room = stat.Bfree
	}
	return stat.Blocks > 0 && room == 0
}

// ConversationFolders lists the folders to watch for new messages in any conversation, for new
// transcripts, and for a claude that moves to another conversation. Some may not exist.
func (c Config) ConversationFolders() ([]string, error) {
	folders, err := c.transcriptFolders()
	return append([]string{c.dir, c.Registry().Dir(), c.projects()}, folders...), err
}

// transcriptFolders returns the folders in which transcripts may be.
func (c Config) transcriptFolders() ([]string, error) {
	entries, err := os.ReadDir(c.projects())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return agent.Mapped(entries, func(entry os.DirEntry) string { return filepath.Join(c.projects(), entry.Name()) }), nil
}
