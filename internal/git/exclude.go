package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// KeepOut puts the folder on the list of what git ignores, where it is missing there. Git is
// started only then. What stands in the place of the list and is no regular file is left
// alone. unignored tells that git would take the folder all the same, because files of the
// repository say so; it is only known when the line was missing.
func (f Folder) KeepOut(ctx context.Context) (unignored bool, err error) {
	list, err := f.guess()
	if err == nil && has(list) {
		return false, nil
	}
	if err == nil {
		list, err = f.ask(ctx)
	}
	if err == nil && !has(list) {
		err = add(list)
	}
	if errors.Is(err, errNone) {
		return false, nil
	}
	return err == nil && f.Unignored(ctx), err
}

// Unignored tells whether git would take what is put into the folder.
func (f Folder) Unignored(ctx context.Context) bool {
	_, code, err := f.run(ctx, "check-ignore", "--quiet", "--no-index", "--", f.Name+"/sessions/a.json")
	const notIgnored = 1 // 128: it is no repository
	return err == nil && code == notIgnored
}

// Tracked lists what git has of the folder, as paths below its parent.
func (f Folder) Tracked(ctx context.Context) []string {
	out, code, err := f.run(ctx, "ls-files", "-z", "--", ":(literal)"+f.Name)
	if err != nil || code != 0 || out == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}

// listLimit is more than anybody's list has, in bytes.
const listLimit = 1 << 20

func has(p place) bool {
	text, err := read(p.list)
	return err == nil && slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSuffix(line, "\r") == p.line })
}

// add appends the line to the list, which is made where it is missing.
func add(p place) error {
	folder := filepath.Dir(p.list)
	if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // as git makes it: the umask decides
		return err
	}
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return errIrregular
	}
	f, err := open(p.list, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, listLimit))
	if err != nil || len(text) == listLimit {
		return errors.Join(err, errIrregular)
	}
	line := p.line + "\n"
	if len(text) > 0 && text[len(text)-1] != '\n' {
		line = "\n" + line
	}
	_, err = f.WriteString(line)
	return err
}

var errIrregular = errors.New("the list of what git ignores is no regular file of a usual size")

// open opens a regular file, and no link to one. A pipe keeps nobody waiting.
func open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o666) //nolint:gosec // as git makes it: the umask decides
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errIrregular, f.Close())
	}
	return f, nil
}

// read reads a regular file, or the beginning of one that is no list.
func read(path string) (string, error) {
	f, err := open(path, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, listLimit))
	return string(text), err
}
