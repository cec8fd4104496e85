package cli

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/launcher"
	"nbs-worker/internal/store"
	"nbs-worker/internal/supervisor"
	"nbs-worker/internal/tmux"
)

// factory makes what commands need, when they need it: --help opens nothing.
type factory struct {
	streams Streams
	root    string // --root
	socket  string // --tmux-socket
	json    bool   // --json

	opened *store.Store
}

func (f *factory) close() {
	if f.opened != nil {
		_ = f.opened.Close()
	}
}

// project finds the project root: --root, NBS_ROOT, or upward from here. found is
// false when there is no .nbs yet; the root is then where one would be made.
func (f *factory) project() (root string, found bool, err error) {
	named := cmp.Or(f.root, os.Getenv(launcher.RootVariable))
	here, err := absolute(cmp.Or(named, "."))
	if err != nil {
		return "", false, agent.Errorf(agent.NotFound, "project root %s: %w", agent.Quote(named), err)
	}
	if named != "" {
		_, err := os.Lstat(filepath.Join(here, ".nbs"))
		return here, err == nil, nil
	}
	root, err = store.Find(here)
	if agent.KindOf(err) == agent.NotFound && err != nil {
		return here, false, nil
	}
	return root, err == nil, err
}

// absolute resolves a folder to its one real name.
func absolute(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// supervisor opens the project. Errors: NotFound when it has no .nbs.
func (f *factory) supervisor() (*supervisor.Supervisor, error) {
	root, found, err := f.project()
	if err != nil {
		return nil, err
	}
	if !found && f.root == "" && os.Getenv(launcher.RootVariable) == "" {
		_, err := store.Find(root) // for its words
		return nil, err
	}
	return f.on(store.Open(root))
}

// founder opens the project and makes its .nbs where there is none, unless it is
// only for a plan.
func (f *factory) founder(planOnly bool) (*supervisor.Supervisor, error) {
	root, found, err := f.project()
	switch {
	case err != nil:
		return nil, err
	case !found && planOnly:
		return f.on(store.Absent(root), nil)
	case !found:
		f.note("new project: %s", filepath.Join(root, ".nbs"))
	}
	return f.on(store.Create(root))
}

func (f *factory) on(opened *store.Store, err error) (*supervisor.Supervisor, error) {
	if err != nil {
		return nil, err
	}
	f.opened = opened
	program, err := os.Executable()
	if err != nil {
		return nil, errors.Join(errors.New("find this program"), err)
	}
	return &supervisor.Supervisor{
		Store: opened, Tmux: tmux.New, Socket: cmp.Or(f.socket, os.Getenv("NBS_TMUX_SOCKET")),
		Env: os.Environ(), Program: program, UID: os.Geteuid(), Now: time.Now,
	}, nil
}
