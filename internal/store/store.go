// Package store keeps .nbs/: the records of agents, what their hooks report, the locks and
// leases and the journal. No other package touches that folder. It keeps besides, in private
// folders of the user's outside of every project, what no agent may reach: a second name of
// transcripts, the heads of journals and the one-shot launch files.
//
// What is written is private (0600 in 0700), atomic and durable: a temporary file,
// fsync, rename, fsync of the folder. Only what the next look or hook makes again, the
// reports and the names of transcripts, is not synced. A reader takes no lock. A damaged
// file is an error that names the file and the remedy; it is never read as empty. All
// access below .nbs goes through [os.Root], so that no name and no planted link leads out.
//
// The package knows nothing of processes, tmux or Claude Code, and must not import
// the packages that do.
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/trust"
)

const (
	folder   = ".nbs"
	sessions = "sessions"
	locks    = "locks"
	statuses = "status"
)

var folders = []string{sessions, locks, statuses}

// Store is one project's .nbs folder.
type Store struct {
	project string   // absolute path of the folder that holds .nbs
	nbs     *os.Root // .nbs itself; nil when it is not made yet
	dir     *os.File // the same, for reading

	keeper  *trust.Keeper // nil: nothing can be sealed
	home    trust.Home    // "": nobody knows where the user's state is kept
	runtime string        // absolute path; "": as home

	remembered memory
}

// Project is the absolute path of the project root.
func (s *Store) Project() string { return s.project }

// Close releases the folder.
func (s *Store) Close() error {
	if s.nbs == nil {
		return nil
	}
	return errors.Join(s.dir.Close(), s.nbs.Close())
}

// Absent is the store of a project that has no .nbs yet, for plans: it has no
// agents and cannot be written.
func Absent(project string) *Store { return &Store{project: project} }

// Has tells whether another project has a record of the handle.
func Has(project string, handle agent.Handle) bool {
	other, err := Open(project)
	if err != nil {
		return false
	}
	defer other.Close()
	_, err = other.spelling(handle)
	return err == nil
}

// UseHome says where the user's state is: the archive of kept transcripts and the heads of
// journals, and what lasts until a launcher has read it where [Store.RunIn] says nothing else.
func (s *Store) UseHome(home trust.Home) { s.home = home }

// Home is the user's state folder; "" where none is known.
func (s *Store) Home() trust.Home { return s.home }

// RunIn says where launch files are handed over; see [trust.RuntimeOf].
func (s *Store) RunIn(runtime string) { s.runtime = runtime }

// Runtime is where launch files are handed over; "" where that is not known.
func (s *Store) Runtime() string {
	if s.runtime == "" && s.home != "" {
		return trust.RuntimeOf(nil, s.home)
	}
	return s.runtime
}

// archive is the folder of the transcripts that are kept, of all projects of the user.
func (s *Store) archive() tree { return s.inHome("transcripts") }

// heads is the folder of the heads of journals, a file a project.
func (s *Store) heads() tree { return s.inHome("journals") }

func (s *Store) inHome(name string) tree {
	if s.home == "" {
		return noTree
	}
	return tree(s.home.Path(name))
}

// launches is the folder of the project's launch files.
func (s *Store) launches() tree {
	if s.Runtime() == "" {
		return noTree
	}
	return tree(filepath.Join(s.Runtime(), s.ProjectHash(), "launch"))
}

// ProjectHash names a project by its path.
func (s *Store) ProjectHash() string {
	const enough = 16 // bytes
	sum := sha256.Sum256([]byte(s.project))
	return hex.EncodeToString(sum[:enough])
}

// Exists tells whether the project has its .nbs.
func (s *Store) Exists() bool { return s.nbs != nil }

// Gone tells whether the .nbs that was opened is no longer the project's: it was removed or
// moved away, with the project or without, even when another was made in its place since.
func (s *Store) Gone() bool {
	there, err := os.Lstat(s.Folder())
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	opened, err := s.dir.Stat()
	return err == nil && !os.SameFile(there, opened)
}

// Find returns the project root that holds dir: the nearest folder upward, dir
// included, with a .nbs in it. Errors: NotFound.
func Find(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, folder)); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", agent.Errorf(agent.NotFound, "no %s folder in %s or above it", folder, agent.Quote(dir)).
				Hint("run the command in a project, name one with --root DIR, or start one: nbs-worker spawn HANDLE")
		}
	}
}

// Open opens the .nbs of a project root. Errors: NotFound when there is none;
// BadInput when it is not a private folder of this user.
func Open(project string) (*Store, error) {
	path := filepath.Join(project, folder)
	if err := checkPrivate(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, agent.Errorf(agent.NotFound, "no %s folder in %s", folder, agent.Quote(project)).
				Hint("name the project with --root DIR, or start one: nbs-worker spawn HANDLE")
		}
		return nil, err
	}
	for _, name := range folders {
		if err := checkPrivate(filepath.Join(path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	nbs, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	dir, err := nbs.Open(".")
	if err != nil {
		return nil, errors.Join(err, nbs.Close())
	}
	return &Store{project: project, nbs: nbs, dir: dir}, nil
}

// Create makes the .nbs of a project root, unless it is there, and opens it.
func Create(project string) (*Store, error) {
	path := filepath.Join(project, folder)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return Open(project)
}

// prepare makes what is missing in a .nbs, such as one of the original tools, before
// anything is written to it. The folder ignores itself for git.
func (s *Store) prepare() error {
	made := false
	for _, name := range folders {
		err := s.nbs.Mkdir(name, 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return s.remedied(err)
		}
		made = made || err == nil
		if err := checkPrivate(filepath.Join(s.project, folder, name)); err != nil {
			return err
		}
	}
	if !made {
		return nil
	}
	return s.ignoreItself()
}

// syncFolders makes the folders that hold the records durable. A new record needs
// them; whether this verb made them or one that was killed right after is all the same.
func (s *Store) syncFolders() error {
	return errors.Join(syncDir(s.nbs), syncPath(s.project))
}

func (s *Store) ignoreItself() error {
	f, err := s.nbs.OpenFile(".gitignore", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// IgnoreAll makes the last word of .nbs/.gitignore that everything is ignored, where a
// repository's own files say otherwise.
func (s *Store) IgnoreAll() error {
	f, err := s.openRegular(".gitignore", os.O_CREATE|os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n*\n")
	return errors.Join(err, f.Close())
}

// checkPrivate refuses a folder that somebody else could have put there or can
// write to: records become arguments of programs.
func checkPrivate(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return agent.Errorf(agent.BadInput, "%s is not a folder", agent.Quote(path)).
			Hint("look at what it is: ls -ld %s", shellWord(path))
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if int(owner) == os.Geteuid() && info.Mode().Perm()&0o022 == 0 {
		return nil
	}
	return foreign(path, owner, info.Mode())
}

// foreign is the error for what belongs to another user, or can be written by one.
func foreign(path string, owner uint32, mode fs.FileMode) error {
	if int(owner) != os.Geteuid() {
		return agent.Errorf(agent.BadInput, "%s belongs to user id %d, not to this user (%d)", agent.Quote(path), owner, os.Geteuid()).
			Hint("%s", TakeOver(path, owner))
	}
	private := 0o600
	if mode.IsDir() {
		private = 0o700
	}
	return agent.Errorf(agent.BadInput, "%s can be written by other users (mode %04o)", agent.Quote(path), mode.Perm()).
		Hint("look at what is in it, then: chmod %o %s", private, shellWord(path))
}

// TakeOver is the remedy for what belongs to another user. Only what root left behind becomes
// this user's: to make anybody else's files one's own, root's above all, is to trust what is in
// them.
func TakeOver(path string, owner uint32) string {
	if owner == 0 {
		return fmt.Sprintf("if root ran nbs-worker here for you, look at what is in it, then: sudo chown -R %d %s", os.Geteuid(), shellWord(path))
	}
	return "run the command as that user; to see what is there: ls -ldn " + shellWord(path)
}

// shellWord is a path as it can be pasted into a command line.
func shellWord(path string) string { return agent.ShellWord(path) }

// moveTo is the command that appends a suffix to the name of a file.
func moveTo(path, suffix string) string {
	return "mv " + shellWord(path) + " " + shellWord(path+suffix)
}

func syncDir(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
