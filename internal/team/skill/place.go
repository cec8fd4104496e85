package skill

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/platform/wholefile"
)

// Place is where a skill is installed.
type Place struct {
	base   string // the folder that holds it, which may be reached by a link
	page   string // its page, below base
	option string // of the verb, by which a user names the place
	plugin bool
}

// InProject is the place for the agents of a project.
func InProject(root string) Place {
	return Place{base: root, page: ".claude/skills/" + Name + "/SKILL.md"}
}

// OfUser is the place for all of a user's agents: the folder of Claude's configuration.
func OfUser(config string) Place {
	return Place{base: config, page: "skills/" + Name + "/SKILL.md", option: " --user"}
}

// AsPlugin is the folder of a plugin of Claude Code.
func AsPlugin(folder string) Place {
	return Place{base: folder, page: "skills/" + Name + "/SKILL.md", option: " --plugin " + human.ShellWord(folder), plugin: true}
}

// Page returns the path of the page.
func (p Place) Page() string { return filepath.Join(p.base, p.page) }

// Option returns the option of the verb that names the place, after a space; "" for the project.
func (p Place) Option() string { return p.option }

// file is one file of an installed skill.
type file struct {
	name  string // below the base
	text  []byte // as it is to be
	isOur func(text []byte) bool
}

func (p Place) files(page Page) []file {
	files := []file{{p.page, page.Text(), isPage}}
	if p.plugin {
		files = append(files,
			file{".claude-plugin/plugin.json", indented(manifestOf(page.Version)), isManifest},
			file{".claude-plugin/marketplace.json", indented(ourMarket()), isMarket})
	}
	return files
}

// Install writes the skill. It reports whether anything was changed. Errors: Conflict for a file that nbs-worker did not
// write, or that was changed, unless forced; BadInput for a link or a folder in the way. Then nothing is written.
func (p Place) Install(page Page, force bool) (changed bool, err error) {
	unlock, err := p.lock(os.MkdirAll(p.base, 0o700))
	if err != nil {
		return false, err
	}
	defer unlock()
	var due []file
	for _, f := range p.files(page) {
		text, err := p.read(f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			due = append(due, f)
		case err != nil:
			return false, err
		case !f.isOur(text) && !force:
			return false, p.foreign(f, "replace", "install")
		case !bytes.Equal(text, f.text):
			due = append(due, f)
		}
	}
	for _, f := range due {
		if err := wholefile.Put(filepath.Join(p.base, f.name), bytes.NewReader(f.text)); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// Remove removes the files of the skill, and the folders that are then empty. It returns the paths of the files. Errors:
// NotFound if it is not there; those of Install.
func (p Place) Remove(force bool) (removed []string, err error) {
	unlock, err := p.lock(nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, p.missing()
	} else if err != nil {
		return nil, err
	}
	defer unlock()
	var due []file
	for _, f := range p.files(Page{}) {
		text, err := p.read(f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case !f.isOur(text) && !force:
			return nil, p.foreign(f, "remove", "remove")
		default:
			due = append(due, f)
		}
	}
	if len(due) == 0 {
		return nil, p.missing()
	}
	for _, f := range due {
		if err := os.Remove(filepath.Join(p.base, f.name)); err != nil {
			return removed, err
		}
		removed = append(removed, filepath.Join(p.base, f.name))
		for dir := filepath.Dir(f.name); dir != "."; dir = filepath.Dir(dir) {
			if os.Remove(filepath.Join(p.base, dir)) != nil { // something else is in it
				break
			}
		}
	}
	return removed, nil
}

// lock keeps other calls away from the place, whose folder was made or is there. Errors: BadInput if it is no folder; Conflict
// if another call does not end.
func (p Place) lock(made error) (unlock func(), err error) {
	const limit, poll = 10 * time.Second, 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	lock := flock.New(p.base+"/", flock.SetFlag(os.O_RDONLY)) // not a file
	if err = made; err == nil {
		_, err = lock.TryLockContext(ctx, poll)
	}
	switch {
	case err == nil, isUnlockable(err):
		return func() { _ = lock.Close() }, nil
	case errors.Is(err, syscall.ENOTDIR):
		err = fail.Errorf(fail.BadInput, "%s is not a folder", human.Quote(p.base)).Hint("to see it: ls -ld %s", human.ShellWord(p.base))
	case ctx.Err() != nil:
		err = fail.Errorf(fail.Conflict, "another program keeps %s locked", human.Quote(p.base))
	}
	return nil, cmp.Or(err, lock.Close())
}

// isUnlockable reports whether a file system, such as NFS, has no lock for a folder. Then calls at the same time may fail.
func isUnlockable(err error) bool {
	return slices.ContainsFunc([]error{syscall.EBADF, syscall.EISDIR, syscall.ENOLCK, syscall.ENOTSUP, syscall.ENOSYS},
		func(is error) bool { return errors.Is(err, is) })
}

func (p Place) missing() error {
	return fail.Errorf(fail.NotFound, "there is no skill in %s", human.Quote(filepath.Dir(p.Page()))).
		Hint("to install it: nbs-worker skill install%s", p.option)
}

// Installed returns the version of the program that wrote the installed page, "" if nbs-worker wrote none, and
// whether the page was changed since.
func (p Place) Installed() (version string, changed bool) {
	text, err := p.read(p.page)
	if err != nil {
		return "", false
	}
	return versionOf(text), !isPage(text)
}

func (p Place) foreign(f file, what, verb string) error {
	path := filepath.Join(p.base, f.name)
	e := fail.Errorf(fail.Conflict, "%s was changed, or another program wrote it; nbs-worker did not %s it", human.Quote(path), what)
	if f.name == p.page {
		e = e.Hint("to see the difference: nbs-worker skill show | diff %s -", human.ShellWord(path))
	}
	return e.Hint("to %s it in spite of that: nbs-worker skill %s%s --force", what, verb, p.option)
}

// read reads a file below the base. It follows no link there. Errors: [fs.ErrNotExist]; BadInput for what is no regular
// file in folders.
func (p Place) read(name string) ([]byte, error) {
	const limit = 1 << 20
	path := p.base
	for part := range strings.SplitSeq(filepath.Dir(name), "/") {
		path = filepath.Join(path, part)
		if info, err := os.Lstat(path); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, p.inTheWay(path, "a folder")
		}
	}
	path = filepath.Join(p.base, name)
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, p.inTheWay(path, "a regular file")
	}
	text, err := smallfile.Read(path, limit)
	if _, is := errors.AsType[smallfile.TooLargeError](err); is { // no file of ours is so large
		return []byte{}, nil
	}
	return text, err
}

func (p Place) inTheWay(path, want string) error {
	return fail.Errorf(fail.BadInput, "%s is not %s; nbs-worker follows no link there", human.Quote(path), want).
		Hint("to see it: ls -ld %s", human.ShellWord(path))
}
