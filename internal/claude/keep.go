package claude

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/smallfile"
)

// TranscriptAt is a transcript that is not in its place, such as one that was kept.
func TranscriptAt(path string) Transcript { return Transcript{Path: path} }

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
	transcript, found, err := c.Transcript(id)
	if err != nil || !found {
		return err
	}
	path, err := c.RestorePath(id, slug(cwd), "")
	if err != nil || path == transcript.Path {
		return err
	}
	_ = os.Link(transcript.Path, path)
	return nil
}

// DefaultCleanupDays is after how many days without a write Claude deletes a transcript.
const DefaultCleanupDays = 30

const settingsLimit = 1 << 20 // bytes

// CleanupDays is cleanupPeriodDays as it holds for a working directory, and the file that
// says so: the project's own settings go before the user's. Source is "" for the default.
// A file that cannot be read says nothing.
func (c Config) CleanupDays(cwd string) (days float64, source string) {
	for _, path := range []string{
		filepath.Join(cwd, ".claude", "settings.local.json"),
		filepath.Join(cwd, ".claude", "settings.json"),
		filepath.Join(c.dir, "settings.json"),
	} {
		data, err := smallfile.Read(path, settingsLimit)
		var settings struct {
			Days *float64 `json:"cleanupPeriodDays"`
		}
		if err == nil && json.Unmarshal(data, &settings) == nil && settings.Days != nil && *settings.Days >= 0 {
			return *settings.Days, path
		}
	}
	return DefaultCleanupDays, ""
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

// SetShortenedAside renames a transcript of which a part is missing, so that the whole one can be put
// into its place, and returns its new path; "" when there is none, or nothing was said in it.
func (c Config) SetShortenedAside(id agent.SessionID) (path string, err error) {
	transcript, found, err := c.Transcript(id)
	if err != nil || !found {
		return "", err
	}
	spoken, err := transcript.SpokenAfter(0)
	if err != nil || !spoken {
		return "", err
	}
	return transcript.Path + shortenedSuffix, os.Rename(transcript.Path, transcript.Path+shortenedSuffix)
}

// shortenedSuffix is what a transcript is renamed by of which a part is missing. The whole one
// has all of it, but it is Claude's file, so it is not removed.
const shortenedSuffix = ".shortened"

// Continued finds the transcripts in which this one began: each first record has a parent,
// and the one that holds it comes before. So it does when this one has only some of an earlier
// one, and what is new begins where that ended. It returns all parts in order, this one last.
func (t Transcript) Continued(earlier []Transcript) ([]Transcript, error) {
	parts := []Transcript{t}
	for range earlier {
		parent, err := parts[0].missingParent()
		if err == nil && parent == "" && len(parts) == 1 {
			return t.behind(earlier)
		}
		if err != nil || parent == "" {
			return parts, err
		}
		before, err := holding(earlier, parent)
		if err != nil || before == nil {
			return parts, err
		}
		parts = append([]Transcript{*before}, parts...)
	}
	return parts, nil
}

// missingParent is the parent of the first message of a transcript when it is not in it.
func (t Transcript) missingParent() (string, error) {
	f, err := openRegular(t.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var record struct{ UUID, ParentUUID string }
		if json.Unmarshal(line, &record) == nil && record.UUID != "" {
			if record.ParentUUID == "" {
				return "", nil
			}
			there, err := holding([]Transcript{t}, record.ParentUUID)
			if err != nil || there != nil {
				return "", err
			}
			return record.ParentUUID, nil
		}
		if err != nil {
			return "", nil // the end: nothing in it has a parent
		}
	}
}

// holding finds the transcript with a record; nil when none has it.
func holding(all []Transcript, uuid string) (*Transcript, error) {
	for _, t := range all {
		f, err := openRegular(t.Path)
		if err != nil {
			return nil, err
		}
		there, err := streamContains(f, []byte(`"uuid":"`+uuid+`"`))
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		if there {
			return &t, nil
		}
	}
	return nil, nil
}

// writeTranscript replaces a transcript when the new one is whole and on the disk.
func writeTranscript(path string, write func(io.Writer) error) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer func() { _ = f.Cleanup() }()
	if err := write(f); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}
