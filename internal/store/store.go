// Package store keeps .nbs/: the records of agents, the reports of their hooks, the locks and
// leases, and the one-shot launch files, which are in a private folder of the user outside of
// every project. Other contents have their own packages (drawers.go), such as the journal
// ([Store.Journal]) and kept transcripts ([Store.Archive]). Only the packages in this tree touch
// .nbs or the folders outside.
//
//   - Files are private, atomic and durable; see package private. Two kinds are not synced: reports,
//     which the next hook writes again, and launch files, which end with this boot. A reader takes
//     no lock.
//   - A verb that starts, stops or changes an agent takes its verb lock first. The process that runs
//     a conversation holds its lease, the leader of a runbook run holds its lock, each until the end.
//     Every wait for one of them has a limit.
//   - A project file that decides what is run counts only with the user's seal. The seals are kept
//     beside the records ([Store.Allowed]).
//   - The short locks are taken in this order, each after those before it or alone: status, record,
//     journal. The archive's, and those of an outbox and of costs, are
//     taken alone.
//   - A record is written under its record lock, a report under its status lock, a launch file by
//     the holder of the verb lock. Only the launcher that a launch file is for takes it.
//   - A damaged file is an error that names the file and the remedy. It is never read as empty,
//     except a report, which may be lost without harm.
//
// The package knows nothing of processes, tmux or Claude Code, and must not import
// the packages that do.
package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/allowed"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/store/costs"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/projects"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/store/schedules"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/watching"
)

const (
	folder   = ".nbs"
	sessions = "sessions"
	statuses = "status"
)

var folders = []string{sessions, private.Locks, statuses, messages, queue.Folder, watching.Folder, allowed.Folder, runs.Folder, schedules.Folder, deliveries.Folder, costs.Folder, moves.Folder}

// Store is one project's .nbs folder.
type Store struct {
	project string // absolute path of the folder that holds .nbs
	nbs     *private.Folder

	keeper  *trust.Keeper // nil: nothing can be sealed
	home    trust.Home    // "": the user's state folder is not known
	runtime string        // absolute path; "": a folder in home

	journal *journal.Journal
	archive *archive.Archive

	isEnding func(pid int) bool // see SetIsEnding
}

// Project returns the absolute path of the project root.
func (s *Store) Project() string { return s.project }

// Close releases the folder.
func (s *Store) Close() error { return s.nbs.Close() }

// Absent returns the store of a project that has no .nbs yet, for plans: it has no
// agents and cannot be written.
func Absent(project string) *Store {
	return in(project, private.Unmade(filepath.Join(project, folder)))
}

func in(project string, nbs *private.Folder) *Store {
	s := &Store{project: project, nbs: nbs}
	s.SetIsEnding(func(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	s.UseHome("")
	return s
}

// Has reports whether another project has a record of the handle. It returns true for a record that cannot be read:
// otherwise this project would take the other agent's processes for its own and signal them.
func Has(project string, handle agent.Handle) bool {
	other, err := Open(project)
	if err == nil {
		defer other.Close()
		_, err = other.spelling(handle)
	}
	return err == nil || fail.KindOf(err) != fail.NotFound
}

// UseHome sets the user's state folder: it has the archive of kept transcripts, the heads of
// journals and, unless [Store.RunIn] names another folder for them, the launch files.
func (s *Store) UseHome(home trust.Home) {
	s.home = home
	s.journal = journal.In(s.nbs, s.heads(), s.ProjectHash())
	s.archive = archive.In(s.kept())
}

// Home returns the user's state folder, or "" if it is not known.
func (s *Store) Home() trust.Home { return s.home }

// RunIn sets where launch files are handed over; see [trust.RuntimeOf].
func (s *Store) RunIn(runtime string) { s.runtime = runtime }

// Runtime returns where launch files are handed over, or "" if that is not known.
func (s *Store) Runtime() string {
	if s.runtime == "" && s.home != "" {
		return trust.RuntimeOf(nil, s.home)
	}
	return s.runtime
}

// kept returns the folder of the transcripts that are kept, of all projects of the user.
func (s *Store) kept() private.Tree { return s.inHome("transcripts") }

// heads returns the folder of the heads of journals, one file for each project.
func (s *Store) heads() private.Tree { return s.inHome("journals") }

func (s *Store) inHome(name string) private.Tree {
	if s.home == "" {
		return private.NoTree
	}
	return private.Tree(s.home.Path(name))
}

// launches returns the folder of the project's launch files.
func (s *Store) launches() private.Tree {
	if s.Runtime() == "" {
		return private.NoTree
	}
	return private.Tree(filepath.Join(s.Runtime(), s.ProjectHash(), "launch"))
}

// ProjectHash names a project by its path.
func (s *Store) ProjectHash() string { return projects.HashOf(s.project) }

// CheckOutside returns the errors that keep the user's folders outside of the project from being used. It changes
// nothing.
func (s *Store) CheckOutside() []error {
	if s.home == "" {
		return []error{trust.ErrNoHome}
	}
	var errs []error
	for _, t := range []private.Tree{s.kept(), s.heads(), s.launches()} {
		if err := t.CheckWritable(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Exists reports whether the project has its .nbs.
func (s *Store) Exists() bool { return s.nbs.Made() }

// Gone reports whether the .nbs that was opened is no longer the project's: it was removed or moved, alone or with
// the project, even if another .nbs is there now.
func (s *Store) Gone() bool { return s.nbs.Gone() }

// Find returns the project root that holds dir: the nearest folder upward, dir
// included, with a .nbs in it. Errors: NotFound.
func Find(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, folder)); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fail.Errorf(fail.NotFound, "no %s folder in %s or above it", folder, human.Quote(dir)).
				Hint("run the command in a project, name one with --root DIR, or start one: nbs-worker spawn HANDLE")
		}
	}
}

// Open opens the .nbs of a project root. Errors: NotFound when it does not exist; BadInput when it is not a private
// folder of this user.
func Open(project string) (*Store, error) {
	path := filepath.Join(project, folder)
	if err := private.Check(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fail.Errorf(fail.NotFound, "no %s folder in %s", folder, human.Quote(project)).
				Hint("name the project with --root DIR, or start one: nbs-worker spawn HANDLE")
		}
		return nil, err
	}
	for _, name := range folders {
		if err := private.Check(filepath.Join(path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	nbs, err := private.OpenFolder(path)
	if err != nil {
		return nil, err
	}
	return in(project, nbs), nil
}

// Create creates the .nbs of a project root, unless it exists, and opens it.
func Create(project string) (*Store, error) {
	path := filepath.Join(project, folder)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return Open(project)
}

// prepare creates what is missing in a .nbs, such as one of the original tools, before the first write.
func (s *Store) prepare() error {
	for _, name := range folders {
		err := s.nbs.Mkdir(name, 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return s.nbs.Remedied(err)
		}
		if err := private.Check(s.nbs.Path(name)); err != nil {
			return err
		}
	}
	return nil
}

// syncFolders makes the folders that hold the records durable. A new record needs
// them, whether this verb made them or one that was killed right after.
func (s *Store) syncFolders() error {
	return errors.Join(s.nbs.Sync(), private.SyncPath(s.project))
}
