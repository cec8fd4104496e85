// Package ui is what the commands share: the streams, tables and JSON of the output, errors with their hints and exit
// codes, the format of help, flags and completions, and the factory that opens a project for a command.
package ui

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/caller"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/teamfile"
)

// Factory creates what commands need, on demand: --help opens nothing.
type Factory struct {
	Streams Streams
	Machine *machine.Machine
	Args    []string // the command line
	Verb    string   // the running verb, as named in powers
	Root    string   // --root
	Socket  string   // --tmux-socket
	Host    string   // --host
	Hosts   bool     // --hosts
	JSON    bool     // --json

	Version string                                                        // of the program
	Powers  map[string]caller.Rule                                        // the rights of each verb
	Tree    func(args ...string) *cobra.Command                           // the commands, for a command line
	Execute func(ctx context.Context, args []string, streams Streams) int // runs a command line

	Now      func() time.Time
	Opened   *store.Store
	others   []*store.Store // of EveryProject
	Began    time.Time
	Launches atomic.Bool // this process is a launcher

	interrupted <-chan struct{} // nil: signals are not caught yet
}

// Command is a command of the program, by its name.
type Command struct {
	Name     string
	Make     func(*Factory) *cobra.Command
	Plumbing bool // for scripts and services; people rarely type it
}

// Close closes the opened projects.
func (f *Factory) Close() {
	for _, opened := range append(f.others, f.Opened) {
		if opened != nil {
			_ = opened.Close()
		}
	}
	f.others = nil
}

// project finds the project root: --root, NBS_ROOT, or this folder and its parents. Errors: NotFound.
func (f *Factory) project() (string, error) {
	named := f.namedRoot()
	here, err := Absolute(cmp.Or(named, "."))
	if err != nil {
		return "", fail.Errorf(fail.NotFound, "project root %s: %w", human.Quote(named), err)
	}
	if named != "" {
		return here, nil
	}
	return store.Find(here)
}

// NamesRoot reports whether the call names the project's folder.
func (f *Factory) NamesRoot() bool { return f.namedRoot() != "" }

func (f *Factory) namedRoot() string { return cmp.Or(f.Root, os.Getenv(agent.RootVariable)) }

// Absolute resolves a folder to its unique real path.
func Absolute(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// NamedFolder resolves the folder that a flag names; "" for "". what describes the folder in errors. Errors: NotFound.
func NamedFolder(what, dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	dir, err := Absolute(dir)
	if err != nil {
		return "", fail.Errorf(fail.NotFound, "%s: %w", what, err)
	}
	return dir, nil
}

// Supervisor opens the project. Errors: NotFound when it has no .nbs.
func (f *Factory) Supervisor() (*supervisor.Supervisor, error) {
	root, err := f.project()
	if err != nil {
		return nil, f.orUp(err)
	}
	s, err := f.On(store.Open(root))
	return s, f.orUp(err)
}

// orUp adds to the error for a folder without a project how to begin, if there is a team file.
func (f *Factory) orUp(err error) error {
	if fail.KindOf(err) != fail.NotFound || !f.HasTeam() {
		return err
	}
	return fail.Errorf(fail.NotFound, "%w", err).Hint("%s", WayUp)
}

// WayUp is how a team file is put to use.
const WayUp = "to start the team of " + teamfile.DefaultName + ": nbs-worker up"

// HasTeam reports whether there is a team file in the project, or where a new one would be.
func (f *Factory) HasTeam() bool {
	root, err := f.Founding()
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(root, teamfile.DefaultName))
	return err == nil
}

// ProjectStore opens the project once, and again if it has been created or moved since. Errors: NotFound when it has no
// .nbs.
func (f *Factory) ProjectStore() (*store.Store, error) {
	if f.Opened != nil && f.Opened.Exists() && !f.Opened.Gone() {
		return f.Opened, nil
	}
	s, err := f.Supervisor()
	if err != nil {
		return nil, err
	}
	return s.Project.Store, nil
}

// Founding returns where a new project would be: in the named folder or in this one.
func (f *Factory) Founding() (string, error) {
	root, err := f.project()
	if fail.KindOf(err) == fail.NotFound && f.namedRoot() == "" {
		return Absolute(".")
	}
	return root, err
}

// Planner opens the project or, if it does not exist, the place where it would be.
func (f *Factory) Planner() (*supervisor.Supervisor, error) {
	root, err := f.Founding()
	if err != nil {
		return nil, err
	}
	opened, err := store.Open(root)
	if fail.KindOf(err) == fail.NotFound {
		return f.On(store.Absent(root), nil)
	}
	return f.On(opened, err)
}

// NewProject opens the project, and creates it if it is missing.
func (f *Factory) NewProject() (*supervisor.Supervisor, error) {
	s, err := f.Planner() // a refused verb creates nothing
	if err != nil || s.Project.Store.Exists() {
		return s, err
	}
	f.Close()
	return f.On(store.Create(s.Project.Store.Project()))
}

// On returns the supervisor of an opened project, if the caller may run the verb there.
func (f *Factory) On(opened *store.Store, err error) (*supervisor.Supervisor, error) {
	if err != nil {
		return nil, err
	}
	f.Use(opened)
	project, err := f.observed(opened)
	if err != nil {
		return nil, err
	}
	by, err := caller.Find(project)
	if err != nil {
		return nil, err
	}
	s := newSupervisor(project, by)
	s.Room = f.Streams.Room
	return f.permitted(s)
}

func newSupervisor(project *observe.Project, by *caller.Caller) *supervisor.Supervisor {
	s := supervisor.New(project, by)
	s.Remembered = services.Remembered
	return s
}

// observed returns an opened project as this command sees it.
func (f *Factory) observed(opened *store.Store) (*observe.Project, error) {
	program, err := os.Executable() // also runs as launcher and hook
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return &observe.Project{
		Store: opened, Machine: f.Machine, Tmux: tmux.NewServers().Client, Socket: cmp.Or(f.Socket, os.Getenv("NBS_TMUX_SOCKET")),
		Env: os.Environ(), Program: program, UID: os.Geteuid(), Now: f.Now, Began: f.Began, Jobs: &observe.Jobs{},
	}, nil
}

// limited gives the command the environment of the calling agent, unless that agent may manage others.
func (f *Factory) limited(s *supervisor.Supervisor) (*supervisor.Supervisor, error) {
	env := s.Caller.Confinement()
	if env == nil {
		return s, nil
	}
	f.Root = s.Project.Store.Project() // not the root in the agent's own environment
	env = slices.DeleteFunc(env, isOfTerminal)
	env = append(env, slices.DeleteFunc(os.Environ(), func(entry string) bool { return !isOfTerminal(entry) })...)
	if err := ReplaceEnvironment(env); err != nil {
		return nil, err
	}
	f.Use(s.Project.Store) // with the key of the agent's user, in any folder that the command names
	s.Project.Env, s.Project.Socket = os.Environ(), cmp.Or(f.Socket, os.Getenv("NBS_TMUX_SOCKET"))
	return s, nil
}

// isOfTerminal reports whether a variable names the pane that the command runs in. The agent's pane may differ.
func isOfTerminal(entry string) bool {
	return strings.HasPrefix(entry, "TMUX=") || strings.HasPrefix(entry, "TMUX_PANE=")
}

// ReplaceEnvironment sets the environment of this process.
func ReplaceEnvironment(env []string) error {
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

// Use switches to an opened project, with the user's key.
func (f *Factory) Use(opened *store.Store) {
	f.Opened = opened
	f.equip(opened)
}

// equip gives an opened project the user's key, and the user's folders outside projects.
func (f *Factory) equip(opened *store.Store) {
	if home := f.equipToReport(opened); home != "" { // without a home, the code that needs a seal reports it
		opened.Use(trust.NewKeeper(home))
	}
}

// UseToReport switches to an opened project for a caller that seals nothing, with the user's folders outside projects.
func (f *Factory) UseToReport(opened *store.Store) trust.Home {
	f.Opened = opened
	return f.equipToReport(opened)
}

func (f *Factory) equipToReport(opened *store.Store) trust.Home {
	opened.SetIsEnding(f.Machine.IsEnding)
	home, _ := trust.HomeOf(os.Environ()) // without a home, the code that needs it reports it
	opened.UseHome(home)
	opened.RunIn(trust.RuntimeOf(os.Environ(), home))
	return home
}

// permitted opens a project for the running verb, if the caller has the right. An agent's command then gets the
// environment that the agent was started with. Its child processes inherit that, tmux finds its configuration by it,
// and the agent may have set other variables for the command.
func (f *Factory) permitted(s *supervisor.Supervisor) (*supervisor.Supervisor, error) {
	rule, declared := f.Powers[f.Verb]
	if !declared {
		return nil, fmt.Errorf("the verb %q declares no powers", f.Verb)
	}
	if err := s.Caller.Check(rule); err != nil {
		return nil, err
	}
	s.Project.Outside = s.Caller.Check(caller.Rule{Right: caller.Member}) != nil
	return f.limited(s)
}
