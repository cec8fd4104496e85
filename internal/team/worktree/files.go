package worktree

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's names of objects
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// file is a file or a link in a tree, as it was found.
type file struct {
	name string // below the top of the tree, with slashes
	mode string // git's
	info fs.FileInfo
}

// git's modes of what a tree holds.
const (
	modePlain      = "100644"
	modeExecutable = "100755"
	modeLink       = "120000"
	modeRepository = "160000"
)

// gitLink is the file by which a worktree finds its repository. It is no content of the tree.
const gitLink = ".git"

// list returns all files and links of a tree, and its folders, each after the one that it is in. It follows no link.
// Errors: Conflict for what git cannot hold: another repository, a socket, a device.
func list(root *os.Root) (files []file, folders []string, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "." || name == gitLink:
			return nil
		case path.Base(name) == gitLink:
			return fail.Errorf(fail.Conflict, "%s is a repository of its own", human.Quote(path.Dir(name)))
		case d.IsDir():
			folders = append(folders, name)
			return nil
		}
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		mode, err := modeOf(info)
		if err != nil {
			return fail.Errorf(fail.Conflict, "%s %w", human.Quote(name), err)
		}
		files = append(files, file{name, mode, info})
		return nil
	})
	return files, folders, err
}

// strange returns what no commit can hold, by names alone: repositories, and what is neither a file nor a link. A commit
// leaves it out where it is ignored.
func strange(root *os.Root) (repositories, others []string, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		kind := d.Type()
		switch {
		case err != nil:
			return err
		case name == gitLink:
		case path.Base(name) == gitLink:
			repositories = append(repositories, path.Dir(name))
		case !kind.IsDir() && !kind.IsRegular() && kind != fs.ModeSymlink:
			others = append(others, name)
		}
		return nil
	})
	return repositories, others, err
}

func modeOf(info fs.FileInfo) (string, error) {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return modeLink, nil
	case !mode.IsRegular():
		return "", errors.New("is neither a file nor a link")
	case mode&0o100 != 0:
		return modeExecutable, nil
	default:
		return modePlain, nil
	}
}

// open returns the content of a file, or the target of a link, with its size.
func (f *file) open(root *os.Root) (io.ReadCloser, int64, error) {
	if f.mode == modeLink {
		target, err := root.Readlink(f.name)
		return io.NopCloser(strings.NewReader(target)), int64(len(target)), err
	}
	opened, err := root.Open(f.name)
	if err != nil {
		return nil, 0, err
	}
	info, err := opened.Stat()
	if err == nil && !os.SameFile(info, f.info) {
		err = changed(f.name)
	}
	if err != nil {
		_ = opened.Close()
		return nil, 0, err
	}
	return opened, info.Size(), nil
}

func changed(name string) error {
	return fail.Errorf(fail.Conflict, "%s was changed while it was read", human.Quote(name))
}

// sum returns the name that git gives to the content of a file, without any conversion. length is of names in this
// repository.
func (f *file) sum(root *os.Root, length int) (string, error) {
	in, size, err := f.open(root)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := newSum(length)
	fmt.Fprintf(h, "blob %d\x00", size)
	n, err := io.Copy(h, in)
	if err == nil && n != size {
		err = changed(f.name)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

func newSum(length int) hash.Hash {
	if length == hex.EncodedLen(sha256.Size) {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // git's names of objects
}

// object is a file in a commit.
type object struct{ mode, sum string }

// parseTree reads what git ls-tree -r -z prints.
func parseTree(said []byte) (map[string]object, error) {
	all := map[string]object{}
	for line := range bytes.SplitSeq(bytes.TrimSuffix(said, []byte{0}), []byte{0}) {
		if len(line) == 0 {
			continue
		}
		about, name, ok := strings.Cut(string(line), "\t")
		words := strings.Fields(about)
		const mode, sum, fields = 0, 2, 3
		if !ok || len(words) < fields {
			return nil, fail.Errorf(fail.Failed, "git ls-tree printed %s", human.Quote(string(line)))
		}
		all[name] = object{words[mode], words[sum]}
	}
	return all, nil
}
