package smallfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/sim/rig"
)

func TestReadsAllUpToTheLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, firstRead - 1, firstRead, firstRead + 1, 100_000} {
		want := bytes.Repeat([]byte("x"), size)
		rig.Must(t, os.WriteFile(path, want, 0o600))
		got, err := Read(path, size)
		rig.Check(t, err == nil && bytes.Equal(got, want), "%d bytes: read %d, %v", size, len(got), err)
		_, err = Read(path, size-1)
		rig.Check(t, size <= 0 || errors.As(err, new(TooLargeError)), "%d bytes, one more than allowed: %v", size, err)
	}
}

func TestReadsProc(t *testing.T) {
	t.Parallel()
	got, err := Read("/proc/self/stat", 1<<12)
	rig.Check(t, err == nil && bytes.Contains(got, []byte("smallfile")), "%q, %v", got, err)
}

func TestErrorsNameTheFile(t *testing.T) {
	t.Parallel()
	_, err := Read("/nonexistent/file", 1)
	var at *fs.PathError
	rig.Check(t, errors.Is(err, fs.ErrNotExist) && errors.As(err, &at) && at.Path == "/nonexistent/file", "%v", err)
}

func TestDirFollowsNoLinkAndReadsNoPipe(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	for _, err := range []error{
		os.WriteFile(outside, []byte("secret"), 0o600),
		os.Mkdir(filepath.Join(root, "sub"), 0o700),
		os.WriteFile(filepath.Join(root, "sub", "file"), []byte("here"), 0o600),
		os.Symlink(outside, filepath.Join(root, "sub", "link")),
		os.Symlink("sub", filepath.Join(root, "linked")),
		os.Mkdir(filepath.Join(root, "sub", "folder"), 0o700),
		os.WriteFile(filepath.Join(root, "sub", "shared"), nil, 0o600),
		os.Chmod(filepath.Join(root, "sub", "shared"), 0o660),
		unix.Mkfifo(filepath.Join(root, "sub", "pipe"), 0o600),
	} {
		rig.Must(t, err)
	}
	dir, err := os.Open(root)
	rig.Must(t, err)
	defer dir.Close()
	readIn := func(folder, name string) ([]byte, error) {
		sub, err := OpenDir(dir, folder)
		if err != nil {
			return nil, err
		}
		defer sub.Close()
		var text []byte
		err = sub.ViewOwn(name, 10, func(data []byte) error {
			text = bytes.Clone(data)
			return nil
		})
		return text, err
	}
	if got, err := readIn("sub", "file"); err != nil || string(got) != "here" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := readIn("sub", "shared"); !errors.As(err, new(*ForeignError)) {
		t.Errorf("a file that others can write: %q, %v", got, err)
	}
	for _, c := range []struct {
		folder, name string
		want         error
	}{
		{"sub", "link", ErrIrregular},
		{"linked", "file", unix.ENOTDIR},
		{"sub", "none", fs.ErrNotExist},
		{"none", "file", fs.ErrNotExist},
		{"sub", "pipe", ErrIrregular},
		{"sub", "folder", ErrIrregular},
		{"..", "file", fs.ErrInvalid},
		{"sub", "../sub/file", fs.ErrInvalid},
		{"sub", "", fs.ErrInvalid},
	} {
		got, err := readIn(c.folder, c.name)
		rig.Check(t, errors.Is(err, c.want), "%s/%s: %q, %v; want %v", c.folder, c.name, got, err, c.want)
	}
}

// A folder of another program may be a link, and so may what is in it.
func TestOpenFollowsLinks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(root, "file"), []byte("here"), 0o644),
		os.Symlink("file", filepath.Join(root, "link")),
		os.Symlink(root, filepath.Join(root, "folder")),
		unix.Mkfifo(filepath.Join(root, "pipe"), 0o600),
	} {
		rig.Must(t, err)
	}
	dir, err := Open(filepath.Join(root, "folder"))
	rig.Must(t, err)
	defer dir.Close()
	for name, want := range map[string]string{"file": "here", "link": "here", "pipe": ""} {
		if err := dir.View(name, 10, func(data []byte) error {
			rig.Check(t, string(data) == want, "%s: %q; want %q", name, data, want)
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	var at *fs.PathError
	err = dir.View("none", 10, nil)
	rig.Check(t, errors.Is(err, fs.ErrNotExist) && errors.As(err, &at) && at.Path == filepath.Join(root, "folder", "none"), "%v", err)
	err = dir.View("folder/file", 10, nil)
	rig.Check(t, errors.Is(err, fs.ErrInvalid), "%v", err)
	_, err = Open(filepath.Join(root, "file"))
	rig.Check(t, errors.Is(err, unix.ENOTDIR), "a file: %v", err)
}

func TestNamesAreThoseOfAllFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var want []string
	for i := range 2000 { // more than one call of the kernel tells
		want = append(want, fmt.Sprintf("%04d-%s.json", i, strings.Repeat("x", i%60)))
		rig.Must(t, os.WriteFile(filepath.Join(root, want[i]), nil, 0o600))
	}
	dir, err := Open(root)
	rig.Must(t, err)
	defer dir.Close()
	for range 2 {
		got, err := dir.Names()
		slices.Sort(got)
		rig.Check(t, err == nil && slices.Equal(got, want), "%d names, %v; want %d", len(got), err, len(want))
	}
}
