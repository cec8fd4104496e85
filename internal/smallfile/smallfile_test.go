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
)

func TestReadsAllUpToTheLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, firstRead - 1, firstRead, firstRead + 1, 100_000} {
		want := bytes.Repeat([]byte("x"), size)
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path, size); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: read %d, %v", size, len(got), err)
		}
		if _, err := Read(path, size-1); size > 0 && !errors.As(err, new(TooLargeError)) {
			t.Errorf("%d bytes, one more than allowed: %v", size, err)
		}
	}
}

func TestReadsProc(t *testing.T) {
	t.Parallel()
	got, err := Read("/proc/self/stat", 1<<12)
	if err != nil || !bytes.Contains(got, []byte("smallfile")) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestErrorsNameTheFile(t *testing.T) {
	t.Parallel()
	_, err := Read("/nonexistent/file", 1)
	var at *fs.PathError
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &at) || at.Path != "/nonexistent/file" {
		t.Errorf("%v", err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.Open(root)
	if err != nil {
		t.Fatal(err)
	}
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
		if got, err := readIn(c.folder, c.name); !errors.Is(err, c.want) {
			t.Errorf("%s/%s: %q, %v; want %v", c.folder, c.name, got, err, c.want)
		}
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
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, err := Open(filepath.Join(root, "folder"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for name, want := range map[string]string{"file": "here", "link": "here", "pipe": ""} {
		if err := dir.View(name, 10, func(data []byte) error {
			if string(data) != want {
				t.Errorf("%s: %q; want %q", name, data, want)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	var at *fs.PathError
	if err := dir.View("none", 10, nil); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &at) || at.Path != filepath.Join(root, "folder", "none") {
		t.Errorf("%v", err)
	}
	if err := dir.View("folder/file", 10, nil); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("%v", err)
	}
	if _, err := Open(filepath.Join(root, "file")); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a file: %v", err)
	}
}

func TestNamesAreThoseOfAllFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var want []string
	for i := range 2000 { // more than one call of the kernel tells
		want = append(want, fmt.Sprintf("%04d-%s.json", i, strings.Repeat("x", i%60)))
		if err := os.WriteFile(filepath.Join(root, want[i]), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for range 2 {
		got, err := dir.Names()
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d names, %v; want %d", len(got), err, len(want))
		}
	}
}
