package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

const (
	limit = 1000 // bytes
	below = "below"
	name  = "x.json"
)

// place is one way of keeping a file: below a project's folder, synced or not, or in a tree.
type place struct {
	at    string
	write func(value any) error
	read  func() ([]byte, error)
}

func places(t *testing.T) map[string]place {
	t.Helper()
	folder := func() *Folder {
		path := t.TempDir()
		storetest.Must(os.Mkdir(filepath.Join(path, below), 0o700))
		f, err := OpenFolder(path)
		storetest.Must(err)
		t.Cleanup(func() { storetest.Must(f.Close()) })
		return f
	}
	synced, fast, tree := folder(), folder(), Tree(filepath.Join(t.TempDir(), "new", "tree"))
	storetest.Must(tree.Make())
	return map[string]place{
		"synced": {
			synced.Path(below, name), func(value any) error { return synced.WriteJSON(below, name, value, limit) },
			func() ([]byte, error) { return synced.Read(below, name, limit) },
		},
		"handed over": {
			fast.Path(below, name), func(value any) error { return fast.HandOver(below, name, value, limit) },
			func() ([]byte, error) { return fast.Read(below, name, limit) },
		},
		"in a tree": {
			tree.Path(name), func(value any) error { return tree.HandOver(name, value, limit) },
			func() ([]byte, error) { return tree.Read(name, limit) },
		},
	}
}

// Who has the old file open reads the old to its end; what another has planted under the name, or
// under that of the temporary file, is not written through.
func TestFileIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	for what, p := range places(t) {
		storetest.Must(p.write("old"))
		reader, err := os.Open(p.at)
		storetest.Must(err)
		temporary := filepath.Join(filepath.Dir(p.at), "."+name)
		storetest.Plant(t, temporary)
		storetest.Must(p.write("new"))
		old, err := io.ReadAll(reader)
		now, nowErr := p.read()
		rig.Check(t, string(old) == "\"old\"\n" && string(now) == "\"new\"\n" && err == nil && nowErr == nil, "%s: it was %q, %v; is %q, %v", what, old, err, now, nowErr)
		storetest.Must(reader.Close())
		storetest.Plant(t, p.at)
		storetest.Must(p.write("over a link"))
		now, err = p.read()
		rig.Check(t, string(now) == "\"over a link\"\n" && err == nil, "%s: %q, %v", what, now, err)
		storetest.WantKind(t, what, p.write(strings.Repeat("x", limit)), fail.BadInput)
		_ = os.Remove(temporary) // who has another name for it leaves this one
		rig.MustBePrivate(t, filepath.Dir(p.at), 1)
	}
}

// What is not a plain file of this user's, and no other's to write, is not read; and nobody waits
// for a pipe.
func TestWhatIsNoFileOfThisUsersIsNotRead(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		plant func(at string) error
		want  error
	}{
		"link out":      {func(at string) error { return os.Symlink("/etc/passwd", at) }, smallfile.ErrIrregular},
		"link beside":   {func(at string) error { return os.Symlink("sibling", at) }, smallfile.ErrIrregular},
		"dangling link": {func(at string) error { return os.Symlink("nothing", at) }, smallfile.ErrIrregular},
		"FIFO":          {func(at string) error { return syscall.Mkfifo(at, 0o600) }, smallfile.ErrIrregular},
		"socket":        {func(at string) error { return syscall.Mknod(at, syscall.S_IFSOCK|0o600, 0) }, smallfile.ErrIrregular},
		"folder":        {func(at string) error { return os.Mkdir(at, 0o700) }, smallfile.ErrIrregular},
		"too large":     {func(at string) error { return os.WriteFile(at, make([]byte, limit+1), 0o600) }, smallfile.TooLargeError(limit)},
		"nothing":       {func(string) error { return nil }, fs.ErrNotExist},
	} {
		for kept, p := range places(t) {
			storetest.Write(t, filepath.Join(filepath.Dir(p.at), "sibling"), "{}")
			storetest.Must(c.plant(p.at))
			data, err := p.read()
			rig.Check(t, errors.Is(err, c.want), "%s, %s: %q, %v; want %v", what, kept, data, err, c.want)
		}
	}
}

func TestFileThatOthersCanWriteIsNotRead(t *testing.T) {
	t.Parallel()
	p := places(t)["synced"]
	storetest.Must(p.write("x"))
	for mode, want := range map[fs.FileMode]string{0o600: "", 0o644: "", 0o620: "chmod 600 '" + p.at + "'", 0o602: "chmod 600 '" + p.at + "'"} {
		storetest.Must(os.Chmod(p.at, mode))
		_, err := p.read()
		hints := strings.Join(fail.HintsOf(err), " ")
		rig.Check(t, (err == nil) == (want == "") && strings.Contains(hints, want), "%04o: %v, hints %q; want %q", mode, err, hints, want)
	}
}

func TestFileOfAnotherUserIsNotRead(t *testing.T) {
	t.Parallel()
	rig.NeedsRoot(t)
	for what, p := range places(t) {
		storetest.Must(p.write("x"))
		storetest.Must(os.Chown(p.at, rig.Nobody, -1))
		_, err := p.read()
		storetest.WantKind(t, what, err, fail.BadInput)
	}
}

// A project's folder may be read by others, though not written; a tree is this user's alone.
func TestFolderOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	chmod := func(mode fs.FileMode) func(string) error {
		return func(at string) error { return os.Chmod(at, mode) }
	}
	for what, c := range map[string]struct {
		spoil        func(at string) error
		folder, tree bool // it is refused as such
		root         bool // only root can do this
	}{
		"its own":   {chmod(0o700), false, false, false},
		"readable":  {chmod(0o755), false, true, false},
		"writable":  {chmod(0o720), true, true, false},
		"anybody's": {chmod(0o777), true, true, false},
		"a link": {func(at string) error {
			return errors.Join(os.Rename(at, at+".moved"), os.Symlink(at+".moved", at))
		}, true, true, false},
		"a file":       {func(at string) error { return errors.Join(os.Remove(at), os.WriteFile(at, nil, 0o600)) }, true, true, false},
		"a stranger's": {func(at string) error { return os.Chown(at, rig.Nobody, -1) }, true, true, true},
	} {
		if c.root && os.Geteuid() != 0 {
			continue
		}
		at := filepath.Join(t.TempDir(), "folder")
		storetest.Must(os.Mkdir(at, 0o700))
		storetest.Must(c.spoil(at))
		dir, err := Tree(at).Open()
		if err == nil {
			storetest.Must(dir.Close())
		}
		for kind, got := range map[string]struct {
			err     error
			refused bool
		}{"folder": {Check(at), c.folder}, "tree": {err, c.tree}} {
			if got.refused {
				storetest.WantKind(t, what+", "+kind, got.err, fail.BadInput)
			}
			if (got.err != nil) != got.refused || got.refused && len(fail.HintsOf(got.err)) == 0 {
				t.Errorf("%s, %s: %v, hints %q", what, kind, got.err, fail.HintsOf(got.err))
			}
		}
	}
}

// A look at a tree that is not there finds nothing and makes nothing; without a place for it,
// whoever has to write says so.
func TestTreeThatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, tree := range []Tree{NoTree, Tree(filepath.Join(t.TempDir(), "tree"))} {
		names, err := tree.Names()
		_, readErr := tree.Read(name, limit)
		rig.Check(t, len(names) == 0 && err == nil && errors.Is(readErr, fs.ErrNotExist) && tree.Remove(name) == nil, "%q: %q, %v, %v", tree, names, err, readErr)
		_, err = os.Lstat(string(tree))
		rig.Check(t, errors.Is(err, fs.ErrNotExist), "%q: %v", tree, err)
	}
	storetest.WantKind(t, "no tree", NoTree.HandOver(name, 1, limit), fail.Unfit)
}

func TestDiskErrorsHaveARemedy(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]string{
		syscall.ENOSPC: "df -h '/a b'", syscall.EDQUOT: "df -h '/a b'", syscall.EROFS: "findmnt -T '/a b'", syscall.EIO: "",
	} {
		err := Remedied("/a b", fmt.Errorf("write: %w", cause))
		hints := strings.Join(fail.HintsOf(err), " ")
		rig.Check(t, errors.Is(err, cause) && strings.HasSuffix(hints, want) && (hints == "") == (want == ""), "%v: %v, hints %q; want %q", cause, err, hints, want)
	}
}

func TestFolderThatWasMovedAwayIsGone(t *testing.T) {
	t.Parallel()
	f := withLocks(t)
	rig.Check(t, !f.Gone(), "it is there")
	storetest.Must(os.Rename(f.Path(), f.Path()+".moved"))
	storetest.Must(os.Mkdir(f.Path(), 0o700))
	rig.Check(t, f.Gone(), "another was made in its place")
}
