package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/observe/health"
	"nbs-worker/internal/team/supervisor"
)

// factory creates what commands need, on demand: --help opens nothing.
type factory struct {
	streams Streams
	machine *machine.Machine
	args    []string       // the command line
	verb    string         // the running verb, as named in powers
	root    string         // --root
	socket  string         // --tmux-socket
	json    bool           // --json
	handles []agent.Handle // from the command line, when a verb acts on each of them

	opened   *store.Store
	began    time.Time
	launches atomic.Bool // this process is a launcher
}

func (f *factory) close() {
	if f.opened != nil {
		_ = f.opened.Close()
	}
}

// project finds the project root: --root, NBS_ROOT, or this folder and its parents. Errors: NotFound.
func (f *factory) project() (string, error) {
	named := f.namedRoot()
	here, err := absolute(cmp.Or(named, "."))
	if err != nil {
		return "", fail.Errorf(fail.NotFound, "project root %s: %w", human.Quote(named), err)
	}
	if named != "" {
		return here, nil
	}
	return store.Find(here)
}

func (f *factory) namedRoot() string { return cmp.Or(f.root, os.Getenv(agent.RootVariable)) }

// absolute resolves a folder to its unique real path.
func absolute(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// namedFolder resolves the folder that a flag names; "" for "". what describes the folder in errors. Errors: NotFound.
func namedFolder(what, dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	dir, err := absolute(dir)
	if err != nil {
		return "", fail.Errorf(fail.NotFound, "%s: %w", what, err)
	}
	return dir, nil
}

// supervisor opens the project. Errors: NotFound when it has no .nbs.
func (f *factory) supervisor() (*supervisor.Supervisor, error) {
	root, err := f.project()
	if err != nil {
		return nil, err
	}
	return f.on(store.Open(root))
}

// projectStore opens the project once, and again if it has been created or moved since. Errors: NotFound when it has no
// .nbs.
func (f *factory) projectStore() (*store.Store, error) {
	if f.opened != nil && f.opened.Exists() && !f.opened.Gone() {
		return f.opened, nil
	}
	s, err := f.supervisor()
	if err != nil {
		return nil, err
	}
	return s.Store, nil
}

// founding returns where a new project would be: in the named folder or in this one.
func (f *factory) founding() (string, error) {
	root, err := f.project()
	if fail.KindOf(err) == fail.NotFound && f.namedRoot() == "" {
		return absolute(".")
	}
	return root, err
}

// planner opens the project or, if it does not exist, the place where it would be.
func (f *factory) planner() (*supervisor.Supervisor, error) {
	root, err := f.founding()
	if err != nil {
		return nil, err
	}
	opened, err := store.Open(root)
	if fail.KindOf(err) == fail.NotFound {
		return f.on(store.Absent(root), nil)
	}
	return f.on(opened, err)
}

// newProject opens the project, and creates it if it is missing.
func (f *factory) newProject() (*supervisor.Supervisor, error) {
	s, err := f.planner() // a refused verb creates nothing
	if err != nil || s.Store.Exists() {
		return s, err
	}
	f.close()
	return f.on(store.Create(s.Store.Project()))
}

func (f *factory) on(opened *store.Store, err error) (*supervisor.Supervisor, error) {
	if err != nil {
		return nil, err
	}
	f.use(opened)
	program, err := os.Executable() // also runs as launcher and hook
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	stuck := func(pid int) bool { return health.Stuck(f.machine, pid) }
	s := supervisor.New(observe.Observer{
		Store: opened, Machine: f.machine, Tmux: tmux.NewServers(stuck).Client, Socket: cmp.Or(f.socket, os.Getenv("NBS_TMUX_SOCKET")),
		Env: os.Environ(), Program: program, UID: os.Geteuid(), Now: time.Now, Began: f.began,
	})
	s.Remembered = services.Remembered
	return f.permitted(s)
}

// limited gives the command the environment of the calling agent, unless that agent may manage others.
func (f *factory) limited(s *supervisor.Supervisor) (*supervisor.Supervisor, error) {
	env, err := s.Confinement()
	if err != nil || env == nil {
		return s, err
	}
	f.root = s.Store.Project() // not the root in the agent's own environment
	env = slices.DeleteFunc(env, isOfTerminal)
	env = append(env, slices.DeleteFunc(os.Environ(), func(entry string) bool { return !isOfTerminal(entry) })...)
	if err := replaceEnvironment(env); err != nil {
		return nil, err
	}
	f.use(s.Store) // with the key of the agent's user, in any folder that the command names
	s.Env, s.Socket = os.Environ(), cmp.Or(f.socket, os.Getenv("NBS_TMUX_SOCKET"))
	return s, nil
}

// isOfTerminal reports whether a variable names the pane that the command runs in. The agent's pane may differ.
func isOfTerminal(entry string) bool {
	return strings.HasPrefix(entry, "TMUX=") || strings.HasPrefix(entry, "TMUX_PANE=")
}

// replaceEnvironment sets the environment of this process.
func replaceEnvironment(env []string) error {
	os.Clearenv()
	for _, entry := range env {
		if name, value, ok := strings.Cut(entry, "="); ok {
			if err := os.Setenv(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// use switches to an opened project, with the user's key.
func (f *factory) use(opened *store.Store) {
	if home := f.useToReport(opened); home != "" { // without a home, the code that needs a seal reports it
		opened.Use(trust.NewKeeper(home))
	}
}

// useToReport switches to an opened project for a caller that seals nothing, with the user's folders outside projects.
func (f *factory) useToReport(opened *store.Store) trust.Home {
	f.opened = opened
	opened.SetIsEnding(f.machine.IsEnding)
	home, _ := trust.HomeOf(os.Environ()) // without a home, the code that needs it reports it
	opened.UseHome(home)
	opened.RunIn(trust.RuntimeOf(os.Environ(), home))
	return home
}
