package serve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
)

// File implements [bridge.Chats]. The chat has the user's rights, so it may have what the user could read to it. But a
// slip must not show a secret to all members: no hidden file and no file of keys is given, and no link is followed.
func (c *Chats) File(path string) (*os.File, error) {
	folder := c.Server.Engine.Project.Store.Project()
	within := path
	if filepath.IsAbs(path) {
		within, _ = filepath.Rel(folder, path) // "" is refused
	}
	within = filepath.Clean(within)
	if !filepath.IsLocal(within) {
		return nil, fail.Errorf(fail.BadInput, "%s is not in the project", human.Quote(path))
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := openPlain(root, within)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail.Errorf(fail.NotFound, "there is no file %s in the project", human.Quote(within))
	case errors.Is(err, errGuarded):
		return nil, fail.Errorf(fail.BadInput, "%s is %w", human.Quote(within), err)
	case err != nil:
		return nil, fail.Errorf(fail.BadInput, "%s cannot be read: %w", human.Quote(within), err)
	}
	return f, nil
}

// errGuarded is the error for a file that no chat is given.
var errGuarded = errors.New("hidden, or has keys")

// isGuarded reports whether a file or a folder is hidden, or has a name by which keys are kept. An old copy of a key,
// such as id_rsa.bak, is one too.
func isGuarded(name string) bool {
	name = strings.ToLower(name)
	stem, _, _ := strings.Cut(name, ".")
	return stem == "" || slices.Contains([]string{"id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "credentials"}, stem) ||
		slices.Contains([]string{".env", ".pem", ".key", ".p12", ".pfx", ".kdbx", ".ppk"}, filepath.Ext(name))
}

// openPlain opens a regular file below a folder. It follows no link and waits for no pipe.
func openPlain(root *os.Root, path string) (*os.File, error) {
	var at string
	for name := range strings.SplitSeq(path, "/") {
		if isGuarded(name) {
			return nil, errGuarded
		}
		at = filepath.Join(at, name)
		info, err := root.Lstat(at)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() && !info.Mode().IsRegular() || info.IsDir() == (at == path) {
			return nil, smallfile.ErrIrregular
		}
	}
	return root.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

var (
	pathLike = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("[^\\s`\"'()\\[\\]<>*|,;]*[./][^\\s`\"'()\\[\\]<>*|,;]*")
	})
	lineAt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(:\d+)+$`) }) // "main.go:12"
)

// named returns the files that an answer names, as their paths in the project, which were changed in a time.
func (c *Chats) named(answer string, from, to time.Time) (paths []string) {
	const most, mostLooked = 3, 200
	for _, word := range pathLike().FindAllString(answer, mostLooked) {
		f, err := c.File(lineAt().ReplaceAllString(strings.TrimRight(word, ".:!?"), ""))
		if err != nil {
			continue
		}
		info, err := f.Stat()
		_ = f.Close() // it was only looked at
		if err != nil || info.ModTime().Before(from) || info.ModTime().After(to) {
			continue
		}
		path, err := filepath.Rel(c.Server.Engine.Project.Store.Project(), f.Name())
		if err == nil && !slices.Contains(paths, path) && len(paths) < most {
			paths = append(paths, path)
		}
	}
	return paths
}
