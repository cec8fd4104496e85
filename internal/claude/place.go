package claude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
)

const slugLimit = 200 // bytes; Claude ends longer ones with a hash

// RestorePath returns the path to which a missing transcript is restored, and creates its folder:
// the one in which it was or, when that is not known, the one that Claude derives from the
// working directory.
func (c Config) RestorePath(id agent.SessionID, folder, cwd string) (string, error) {
	if folder == "" {
		folder = slug(cwd)
	}
	dir := filepath.Join(c.projects(), folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(dir, string(id)+".jsonl"), nil
}

// slug returns the name of the folder that Claude derives from a working directory; for a very
// long one, without the hash at its end.
func slug(cwd string) string {
	name := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}, realPath(cwd))
	return name[:min(len(name), slugLimit)]
}

// LinkTranscript gives a transcript a second name in the folder where Claude looks for those of a
// working directory: up to 2.1.197 it does not find a conversation that was held in another one.
// A link that cannot be made is no error here: such a version then reports the missing conversation.
func (c Config) LinkTranscript(id agent.SessionID, cwd string) error {
	file, found, err := c.Transcript(id)
	if err != nil || !found {
		return err
	}
	path, err := c.RestorePath(id, slug(cwd), "")
	if err != nil || path == file.Path {
		return err
	}
	_ = os.Link(file.Path, path)
	return nil
}

// SetStubAside renames a transcript in which nothing was said, so that claude takes
// the session id for new. Without one it does nothing.
func (c Config) SetStubAside(id agent.SessionID) error {
	_, err := c.setAside(id, false, ".unspoken")
	return err
}

// SetShortenedAside renames a transcript that has lost a part, so that the whole one can take its
// place, and returns its new path; "" when there is none, or none with a message.
func (c Config) SetShortenedAside(id agent.SessionID) (path string, err error) {
	return c.setAside(id, true, ".shortened")
}

// setAside renames a transcript that has messages or, unless withMessages, one that has none. The
// file is Claude's, so it is not removed.
func (c Config) setAside(id agent.SessionID, withMessages bool, suffix string) (path string, err error) {
	file, found, err := c.Transcript(id)
	if err != nil || !found {
		return "", err
	}
	hasMessages, err := file.HasMessagesAfter(0)
	if err != nil || hasMessages != withMessages {
		return "", err
	}
	return file.Path + suffix, os.Rename(file.Path, file.Path+suffix)
}

// ClearPlace sets aside a transcript without messages, so that the kept one can take its place.
// Errors: Conflict when a message was written meanwhile.
func (c Config) ClearPlace(id agent.SessionID) error {
	if err := c.SetStubAside(id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, found, err := c.Transcript(id); err != nil || found {
		return errors.Join(err, agent.Errorf(agent.Conflict, "the transcript of %s is there again", id))
	}
	return nil
}
