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

// RestorePath is where a transcript that is gone is put back: in the folder in which it was.
// Where that is not known it is the one that Claude derives from the working directory. The
// folder is made.
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

// slug is the name of the folder that Claude derives from a working directory; of a very long
// one, without the hash at its end.
func slug(cwd string) string {
	name := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}, realPath(cwd))
	return name[:min(len(name), slugLimit)]
}

// LinkTranscript gives a transcript a second name where Claude looks for one of that working
// directory: up to 2.1.197 it does not find a conversation that was held in another. Where no
// link can be made there is none, and such a version says so itself.
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

// SetShortenedAside renames a transcript of which a part is missing, so that the whole one can be put
// into its place, and returns its new path; "" when there is none, or nothing was said in it.
func (c Config) SetShortenedAside(id agent.SessionID) (path string, err error) {
	return c.setAside(id, true, ".shortened")
}

// setAside renames a transcript with messages, or one without. It is Claude's file, so it is not
// removed.
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

// ClearPlace sets a transcript in which nothing was said aside, so that the one that was
// kept can be put into its place. Errors: Conflict when something was said meanwhile.
func (c Config) ClearPlace(id agent.SessionID) error {
	if err := c.SetStubAside(id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, found, err := c.Transcript(id); err != nil || found {
		return errors.Join(err, agent.Errorf(agent.Conflict, "the transcript of %s is there again", id))
	}
	return nil
}
