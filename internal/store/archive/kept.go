package archive

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

// Kept is a kept transcript of a conversation.
type Kept struct {
	Path     string // absolute
	Folder   string // name of the folder in which the original was; "" unknown
	Original string // absolute path of the original; "" unknown
	Size     int64  // bytes
	Modified time.Time
	stat     unix.Stat_t
}

// origin is the file beside a kept transcript.
type origin struct {
	Folder string `json:"folder"`
	Path   string `json:"path"`
	mark
}

// InPlace reports whether the original is where it was.
func (k Kept) InPlace() bool {
	original, there := statOf(k.Original)
	return there && sameFile(&original, &k.stat)
}

// HasLeft reports whether the original is known to be no longer where it was.
func (k Kept) HasLeft() bool {
	_, err := os.Stat(k.Original)
	return k.Original != "" && errors.Is(err, fs.ErrNotExist)
}

// goesOn reports whether the kept transcript begins with all of the file at path, and continues.
func (k Kept) goesOn(path string) (bool, error) {
	shorter, err := private.OpenOwn(nil, path)
	if err != nil {
		return false, err
	}
	defer shorter.Close()
	longer, err := private.OpenOwn(nil, k.Path)
	if err != nil {
		return false, err
	}
	defer longer.Close()
	return begins(longer, shorter)
}

// originOf returns where a conversation's transcript was; empty if that is unknown.
func (a *Archive) originOf(id agent.SessionID) origin {
	data, err := a.kept.Read(originFile(id), originLimit)
	if err != nil {
		return origin{}
	}
	var from origin
	if json.Unmarshal(data, &from) != nil || !isElement(from.Folder) || agent.CheckPath("path", from.Path) != nil || from.Size < 0 {
		return origin{}
	}
	return from
}

// isElement reports whether a name is a plain folder name, without a path.
func isElement(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= unix.NAME_MAX && !strings.ContainsAny(name, "/\x00")
}

// Kept lists the kept transcripts of a conversation: first the one with its name, then those set aside,
// largest first. Errors: BadInput for a file that another user put there.
func (a *Archive) Kept(id agent.SessionID) ([]Kept, error) {
	dir, err := a.kept.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := namesOf(dir, id)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var all []Kept
	from := a.originOf(id)
	for _, name := range names {
		f, err := private.OpenOwn(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Kept{Path: a.kept.Path(name), Folder: from.Folder, Original: from.Path, Size: f.Seen.Size, Modified: time.Unix(f.Seen.Mtim.Unix()), stat: f.Seen})
		_ = f.Close()
	}
	slices.SortStableFunc(all, func(a, b Kept) int {
		return cmpKept(a, b, transcriptFile(id))
	})
	return all, nil
}

// namesOf looks for the files of a conversation under each possible name: the user may have moved some away. It does
// not list the archive: that has the files of all projects, and listing takes long.
func namesOf(dir *os.File, id agent.SessionID) (names []string, err error) {
	for n := range asideLimit + 1 {
		name := transcriptFile(id)
		if n > 0 {
			name = asideFile(id, n)
		}
		var stat unix.Stat_t
		err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
		switch {
		case err == nil:
			names = append(names, name)
		case !errors.Is(err, unix.ENOENT):
			return nil, &os.PathError{Op: "stat", Path: name, Err: err}
		}
	}
	return names, nil
}

// Remove removes what is kept of a conversation.
func (a *Archive) Remove(id agent.SessionID) error {
	dir, err := a.kept.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := namesOf(dir, id)
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	return a.kept.Remove(append(names, "."+transcriptFile(id), originFile(id))...)
}

func cmpKept(a, b Kept, first string) int {
	isFirst := func(k Kept) int {
		if filepath.Base(k.Path) == first {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(isFirst(a), isFirst(b)), cmp.Compare(b.Size, a.Size))
}

func transcriptFile(id agent.SessionID) string { return string(id) + ".jsonl" }

func originFile(id agent.SessionID) string { return string(id) + ".json" }

func asideFile(id agent.SessionID, n int) string {
	return string(id) + "." + strconv.Itoa(n) + ".jsonl"
}
