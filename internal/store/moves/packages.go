package moves

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/private"
)

// Package is a folder with the files of an agent that is arriving.
type Package struct {
	*os.Root

	drawer *Drawer
	name   string // of the folder
	id     string
}

// unfinished begins the names of folders that are still being filled.
const unfinished = "."

// Receive makes a folder for a package. It counts once [Package.Keep] has named it by its digest.
func (d *Drawer) Receive(id string, now time.Time) (*Package, error) {
	if err := agent.CheckMoveID(id); err != nil {
		return nil, err
	}
	name := unfinished + id + "." + rand.Text()
	var root *os.Root
	err := d.tree.In(func(dir *os.Root, _ *os.File) (err error) {
		sweep(dir, now)
		if err = dir.Mkdir(name, 0o700); err == nil {
			root, err = dir.OpenRoot(name)
		}
		return err
	})
	if err != nil {
		return nil, d.tree.Remedied(err)
	}
	return &Package{Root: root, drawer: d, name: name, id: id}, nil
}

// sweep removes what killed receivers have left.
func sweep(dir *os.Root, now time.Time) {
	const old = 24 * time.Hour
	entries, _ := fs.ReadDir(dir.FS(), ".")
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), unfinished) && now.Sub(info.ModTime()) > old {
			_ = dir.RemoveAll(e.Name())
		}
	}
}

// Keep makes a received package count. Its files are synced already.
func (p *Package) Keep(digest string) error {
	to, err := nameOf(p.id, digest)
	if err != nil {
		return err
	}
	return p.drawer.tree.In(func(dir *os.Root, _ *os.File) error {
		if err := private.SyncPath(p.drawer.tree.Path(p.name)); err != nil {
			return err
		}
		if _, err := dir.Lstat(to); err == nil { // the same package came before
			return dir.RemoveAll(p.name)
		}
		if err := dir.Rename(p.name, to); err != nil {
			return err
		}
		p.name = to
		return private.SyncPath(string(p.drawer.tree))
	})
}

// Discard removes a package that has not been kept.
func (p *Package) Discard() {
	_ = p.Close()
	_ = p.drawer.tree.In(func(dir *os.Root, _ *os.File) error {
		if strings.HasPrefix(p.name, unfinished) {
			return dir.RemoveAll(p.name)
		}
		return nil
	})
}

// nameOf returns the name of the folder of a package.
func nameOf(id, digest string) (string, error) {
	const length = 64 // hex digits
	if err := agent.CheckMoveID(id); err != nil {
		return "", err
	}
	if len(digest) != length || strings.Trim(digest, "0123456789abcdef") != "" {
		return "", fail.Errorf(fail.BadInput, "the digest of a package is a SHA-256 sum")
	}
	return id + "." + digest, nil
}

// Open opens a package that was kept. Errors: NotFound.
func (d *Drawer) Open(id, digest string) (*Package, error) {
	name, err := nameOf(id, digest)
	if err != nil {
		return nil, err
	}
	var root *os.Root
	err = d.tree.In(func(dir *os.Root, _ *os.File) (err error) {
		root, err = dir.OpenRoot(name)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail.Errorf(fail.NotFound, "no package of this move has come here")
	}
	if err != nil {
		return nil, err
	}
	return &Package{Root: root, drawer: d, name: name, id: id}, nil
}

// Waiting returns the ids and digests of the packages that are kept.
func (d *Drawer) Waiting() (all [][2]string, err error) {
	names, err := d.tree.Names()
	for _, name := range names {
		id, digest, _ := strings.Cut(name, ".")
		if same, bad := nameOf(id, digest); bad == nil && same == name {
			all = append(all, [2]string{id, digest})
		}
	}
	return all, err
}

// Drop removes all packages of a move.
func (d *Drawer) Drop(id string) error {
	if err := agent.CheckMoveID(id); err != nil {
		return err
	}
	names, err := d.tree.Names()
	if err != nil || len(names) == 0 {
		return err
	}
	return d.tree.In(func(dir *os.Root, _ *os.File) error {
		var errs []error
		for _, name := range names {
			if strings.HasPrefix(strings.TrimPrefix(name, unfinished), id+".") {
				errs = append(errs, dir.RemoveAll(name))
			}
		}
		return errors.Join(errs...)
	})
}

// DropOthers removes the packages of a conversation that came by other moves than this one: those were canceled, since the
// agent is at one machine only.
func (d *Drawer) DropOthers(session agent.SessionID, id string) error {
	all, err := d.Waiting()
	errs := []error{err}
	for _, w := range all {
		label, err := d.Label(w[0], w[1])
		if err == nil && label.Session == session && w[0] != id {
			errs = append(errs, d.Drop(w[0]))
		}
	}
	return errors.Join(errs...)
}

// Path returns the absolute path of a file of the package.
func (p *Package) Path(name string) string { return p.drawer.tree.Path(p.name + "/" + name) }

// Label says for people whose package is waiting.
type Label struct {
	Handle  string          `json:"handle"`
	Session agent.SessionID `json:"session"`
	From    string          `json:"from"`    // the name of the machine
	Command string          `json:"command"` // completes the move, where it was begun
}

const (
	labelFile  = "label.json"
	labelLimit = 4 << 10 // bytes
)

// Labeled writes the label of a package, before it is kept.
func (p *Package) Labeled(l Label) error {
	return private.Tree(p.drawer.tree.Path(p.name)).HandOver(labelFile, l, labelLimit)
}

// Label returns the label of a package that waits. What it says is shown to people, and decides only which packages
// are too old.
func (d *Drawer) Label(id, digest string) (l Label, err error) {
	name, err := nameOf(id, digest)
	if err != nil {
		return l, err
	}
	text, err := private.Tree(d.tree.Path(name)).Read(labelFile, labelLimit)
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	return l, err
}
