package claude

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

const slugLimit = 200 // bytes; Claude ends longer ones with a hash

// RestorePath returns the path to which a missing transcript is restored, and creates its folder. That is its old
// folder or, if that is not known, the one that Claude derives from the working directory.
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

// slug returns the name of the folder that Claude derives from a working directory. For a very long one it lacks the
// hash at the end.
func slug(cwd string) string {
	name := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}, realPath(cwd))
	return name[:min(len(name), slugLimit)]
}

// LinkTranscript links a transcript into the folder where Claude looks for those of a working directory: up to
// 2.1.197 it does not find a conversation from another directory. A link that fails is no error: such a version then
// reports the missing conversation. If another file has that name, it is an old state of the conversation, from
// before its transcript was rewritten. Claude would resume that without a warning, so it is set aside.
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
	if err := os.Rename(path, free(path+".stale")); err != nil {
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

// SetStubAside renames a transcript without messages, so that claude accepts the session id as new. Without such a
// transcript it does nothing.
func (c Config) SetStubAside(id agent.SessionID) error {
	_, err := c.setAside(id, false, ".unspoken")
	return err
}

// SetShortenedAside renames a transcript that has lost a part, so that the whole one can take its place. It returns
// the new path, or "" if there is no transcript or it has no message.
func (c Config) SetShortenedAside(id agent.SessionID) (path string, err error) {
	return c.setAside(id, true, ".shortened")
}

// setAside renames a transcript under each of its names. It renames only one with messages or, unless withMessages,
// only one without. The file is Claude's, so it is not removed.
func (c Config) setAside(id agent.SessionID, withMessages bool, suffix string) (path string, err error) {
	file, found, err := c.Transcript(id)
	if err != nil || !found {
		return "", err
	}
	hasMessages, err := file.HasMessagesAfter(0)
	if err != nil || hasMessages != withMessages {
		return "", err
	}
	for same := true; same; {
		aside := file.Path + suffix
		if hasMessages {
			aside = free(aside)
		}
		if err := os.Rename(file.Path, aside); err != nil {
			return "", err
		}
		path = cmp.Or(path, aside)
		if file, found, err = c.Transcript(id); err != nil || !found {
			return path, err
		}
		if same, err = isSameFile(path, file.Path); err != nil {
			return "", err
		}
	}
	return path, nil
}

// free returns the name for a file that is set aside: the given one or, if an earlier one has that, one with a number.
func free(path string) string {
	name := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = path + "." + strconv.Itoa(n)
	}
}

// ClearPlace sets aside a transcript without messages, so that the kept one can take its place. Errors: Conflict when
// it has a message by now.
func (c Config) ClearPlace(id agent.SessionID) error {
	if err := c.SetStubAside(id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, found, err := c.Transcript(id); err != nil || found {
		return errors.Join(err, fail.Errorf(fail.Conflict, "the transcript of %s exists again", id))
	}
	return nil
}

// MakeRoom sets aside what is at the place of a transcript that is about to be written there: one that has lost a part,
// whose new path it returns, or one without messages. Errors: Conflict when it has a message by now.
func (c Config) MakeRoom(id agent.SessionID) (shortened string, err error) {
	shortened, err = c.SetShortenedAside(id)
	if err == nil {
		err = c.ClearPlace(id)
	}
	return shortened, err
}

// Beside returns the folders that Claude keeps for a conversation beside its transcript: its subagents with the results
// of tools, and files as they were before they were edited.
func (c Config) Beside(id agent.SessionID, transcript string) (own, history string) {
	return strings.TrimSuffix(transcript, ".jsonl"), filepath.Join(c.dir, "file-history", string(id))
}
