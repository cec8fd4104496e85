package claude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
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
// A name of another file there is of what the conversation was before its transcript was written
// anew; claude would resume that in silence, so it is set aside.
func (c Config) LinkTranscript(id agent.SessionID, cwd string) error {
	file, found, err := c.Transcript(id)
	if err != nil || !found {
		return err
	}
	path, err := c.RestorePath(id, slug(cwd), "")
	if err != nil || path == file.Path {
		return err
	}
	if err := os.Link(file.Path, path); !errors.Is(err, fs.ErrExist) {
		return nil
	}
	if same, err := isSameFile(file.Path, path); err != nil || same {
		return err
	}
	if err := os.Rename(path, path+".stale"); err != nil {
		return err
	}
	return os.Link(file.Path, path)
}

func isSameFile(a, b string) (bool, error) {
	first, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second), err
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

// setAside renames a transcript that has messages or, unless withMessages, one that has none, under
// each of its names. The file is Claude's, so it is not removed.
func (c Config) setAside(id agent.SessionID, withMessages bool, suffix string) (path string, err error) {
	file, found, err := c.Transcript(id)
	if err != nil || !found {
		return "", err
	}
	hasMessages, err := file.HasMessagesAfter(0)
	if err != nil || hasMessages != withMessages {
		return "", err
	}
	path = file.Path + suffix
	for same := true; same; {
		if err := os.Rename(file.Path, file.Path+suffix); err != nil {
			return "", err
		}
		if file, found, err = c.Transcript(id); err != nil || !found {
			return path, err
		}
		if same, err = isSameFile(path, file.Path); err != nil {
			return "", err
		}
	}
	return path, nil
}

// ClearPlace sets aside a transcript without messages, so that the kept one can take its place.
// Errors: Conflict when a message was written meanwhile.
func (c Config) ClearPlace(id agent.SessionID) error {
	if err := c.SetStubAside(id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, found, err := c.Transcript(id); err != nil || found {
		return errors.Join(err, fail.Errorf(fail.Conflict, "the transcript of %s is there again", id))
	}
	return nil
}
