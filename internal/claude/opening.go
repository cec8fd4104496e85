package claude

import (
	"errors"
	"os"
	"path/filepath"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// ErrClosed is the error for a transcript that was seen before and may be in another user's closed folder.
var ErrClosed = errors.New("look for the transcript")

// Open chooses between --resume and --session-id for the record's conversation. If a conversation existed and its
// transcript is gone, it is never replaced without an error. Errors: NotFound; ErrClosed.
func (c Config) Open(record *agent.Record) (cmdline.Opening, error) {
	file, found, closed, err := c.findTranscript(record.SessionID)
	if err != nil {
		return "", err
	}
	if found {
		return openFound(record, file)
	}
	if closed != nil && !record.TranscriptSeen.IsZero() {
		return "", fail.Errorf(fail.Failed, "%w: %w", ErrClosed, closed).
			Hint("if that folder is yours, take it back: sudo chown -R %d %s", os.Getuid(), human.ShellWord(filepath.Join(c.dir, "projects")))
	}
	if !record.TranscriptSeen.IsZero() {
		return "", errLost(record, "its transcript is gone from %s; it was last seen on %s",
			human.Quote(c.dir), record.TranscriptSeen.Format("2006-01-02 15:04 MST"))
	}
	_, mentioned, err := c.firstMention(record.SessionID)
	if err != nil {
		return "", err
	}
	if mentioned && !c.neverWritten(record) {
		return "", errLost(record, "its transcript is gone from %s", human.Quote(c.dir))
	}
	return cmdline.OpenNew, nil
}

// openFound chooses for a transcript that exists: it may have messages, be a stub
// without any yet, or have been emptied.
func openFound(record *agent.Record, file transcript.File) (cmdline.Opening, error) {
	hasMessages, err := file.HasMessagesAfter(0)
	switch {
	case err != nil:
		return "", err
	case hasMessages:
		return cmdline.OpenResume, nil
	case !record.TranscriptSeen.IsZero():
		return "", errLost(record, "its transcript %s is empty now", human.Quote(file.Path))
	default:
		return cmdline.OpenNew, nil
	}
}

func errLost(record *agent.Record, format string, args ...any) error {
	return fail.Errorf(fail.NotFound, "the conversation %s cannot be resumed: "+format, append([]any{record.SessionID}, args...)...).
		Hint("Claude deletes transcripts after cleanupPeriodDays (30 by default); if you have a backup, put it back").
		Hint("to start a new conversation with the first prompt (the record keeps this id in previous_sessions): nbs-worker resume %s --fresh", record.Handle)
}
