// Package caller finds who calls nbs-worker, and decides what the caller may: an agent never gives
// more than it has. A person, and an agent that a person has spawned with --may-manage, may give
// what they like.
//
//   - Who calls is found by the processes above the command, which an agent cannot choose, and not
//     by what the command's environment says, which it can.
//   - A claude that no record names is no person either; what it has is what its command line says.
//   - What an agent left behind is known by the mark in its environment, and may give nothing.
//   - What an agent has is in its sealed record: permission mode, arguments, environment,
//     configuration, folder, project. Of two that differ the narrower counts.
package caller

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
)

// Caller is the agent, or other claude, from whose shell a command was called; nil is a person.
type Caller struct {
	at      *observe.Observer // the project in which it calls
	record  agent.Record
	project string

	// identified: a process above the command is the recorded one. Else the command only
	// bears the agent's mark, as what an agent leaves behind does.
	identified bool
	byHand     bool     // no agent, but a claude of which there is no record
	env        []string // with which its claude was started; nil: it has ended
	doubt      error    // why what it has is not known, and it may give nothing; nil: it is known
}

// Find finds who calls; nil for a person.
func Find(o *observe.Observer) (*Caller, error) {
	found, err := finder{o}.find()
	if found != nil {
		found.at = o
	}
	return found, err
}

// finder looks for the caller.
type finder struct{ *observe.Observer }

// ancestor is a process above the command, or the command itself.
type ancestor struct {
	machine *machine.Machine
	pid     int
	env     []string // with which it was started
	mark    agent.Invocation
	handle  agent.Handle // which it claims to be
}

func newAncestor(m *machine.Machine, pid int) ancestor {
	a := ancestor{machine: m, pid: pid}
	a.env, _ = m.Environ(pid) // another user's cannot be read, and is no agent of ours
	a.mark, a.handle = agent.Invocation(a.variable(agent.InvocationVariable)), agent.Handle(a.variable(agent.HandleVariable))
	return a
}

func (a ancestor) variable(name string) string { return agent.Variable(a.env, name) }

// lineage is the command and what is above it, up to a tmux server. A server that an agent's
// shell started gives the agent's mark to every pane, also to a person's, so that a mark which
// the server has too means nothing.
func lineage(m *machine.Machine) (line []ancestor, server ancestor) {
	for _, pid := range m.Ancestors() {
		above := newAncestor(m, pid)
		if m.Name(pid) == observe.TmuxServerName {
			return line, above
		}
		line = append(line, above)
	}
	return line, ancestor{}
}

func (f finder) find() (*Caller, error) {
	line, server := lineage(f.Machine)
	seen := search{line: line, handed: server.mark, at: len(line)}
	launcher := slices.IndexFunc(line[1:], func(a ancestor) bool { return f.Launches(a.pid) }) + 1 // the command itself may be about to become one
	if launcher > 0 || mayBeNamed(line, seen.handed) {
		if err := f.eachRecord(line, seen.look); err != nil {
			return nil, err
		}
	}
	if launcher > 0 && (seen.identified == nil || seen.at > launcher) {
		return unrecorded(line, launcher), nil
	}
	if seen.identified == nil {
		return f.unidentified(line, server, seen.marked), nil
	}
	found := seen.identified
	found.env = f.Machine.EnvironOf(found.record.Process.Identity)
	found.doubt = f.doubt(found)
	return found, nil
}

// unidentified is a caller above which no recorded process is: a claude that was started by hand, or what bears an
// agent's mark. A mark can be anybody's: it gives nothing, and takes from a claude what that has.
func (f finder) unidentified(line []ancestor, server ancestor, marked *Caller) *Caller {
	found := f.byHand(line, server)
	if marked != nil && (found == nil || found.record.Process == nil) {
		found = marked
	}
	if marked != nil {
		found.doubt = cmp.Or(found.doubt, errors.New("only a mark in its environment says that it is "+marked.String()))
	}
	return found
}

// mayBeNamed reports whether [search] may find a record of a process in a line without a launcher: it bears a mark, or is
// a claude, which an adopted one is by its name, its registry or what it tells its tools. A thousand records are not
// read for anybody else.
func mayBeNamed(line []ancestor, handed agent.Invocation) bool {
	return slices.ContainsFunc(line, func(a ancestor) bool {
		_, isClaude := a.claude()
		return isClaude || claude.IsOfTools(a.variable) || a.mark != "" && a.mark != handed
	})
}

// search is what was found in the records that were looked at.
type search struct {
	line   []ancestor
	handed agent.Invocation // the mark that a tmux server hands to all of its panes

	identified *Caller // whose recorded process is above the command; of several the nearest
	at         int     // its place in the line
	marked     *Caller // whose mark the command, or what is above it, bears: of this start or an earlier one
}

func (s *search) look(o *observe.Observer, r *agent.Record) {
	for i := 1; i < s.at; i++ {
		pid := s.line[i].pid
		isClaude := pid == r.Process.PID && o.Machine.IsAlive(r.Process.Identity)
		isLauncher := pid == r.Process.Launcher.PID && o.Machine.IsAlive(r.Process.LauncherIdentity())
		if (isClaude || isLauncher) && o.Marked(r, pid) {
			s.identified, s.at = &Caller{record: *r, project: o.Store.Project(), identified: true}, i
		}
	}
	named := func(a ancestor) bool { return s.names(a, o.Store.Project(), r) }
	if s.marked == nil && slices.ContainsFunc(s.line, named) {
		s.marked = &Caller{record: *r, project: o.Store.Project()}
	}
}

// names reports whether an ancestor bears a mark of a record's agent.
func (s *search) names(a ancestor, project string, r *agent.Record) bool {
	if a.mark == "" || a.mark == s.handed {
		return false
	}
	root := a.variable(agent.RootVariable)
	return a.mark == r.Process.Invocation || r.ExitOf(a.mark) != nil ||
		root != "" && r.Handle.Same(a.handle) && observe.SameFolder(root, project)
}

// unrecorded is an agent whose process no record names: its record was removed, or somebody
// changed it.
func unrecorded(line []ancestor, launcher int) *Caller {
	above := line[launcher-1]
	found := &Caller{project: above.variable(agent.RootVariable), doubt: errors.New("no record names its process")}
	if handle, err := agent.ParseHandle(above.variable(agent.HandleVariable)); err == nil {
		found.record.Handle = handle
	}
	return found
}

// eachRecord calls look with the records that may name the caller: those of this project, and of
// the projects in which the processes above work or were started. It skips damaged ones.
func (f finder) eachRecord(line []ancestor, look func(o *observe.Observer, r *agent.Record)) error {
	seen := map[string]bool{}
	for _, root := range append([]string{f.Store.Project()}, rootsOf(line)...) {
		if seen[root] {
			continue
		}
		seen[root] = true
		if err := f.eachRecordOf(root, look); err != nil {
			return err
		}
	}
	return nil
}

func rootsOf(line []ancestor) []string {
	var roots []string
	for _, a := range line {
		if root := a.variable(agent.RootVariable); filepath.IsAbs(root) {
			roots = append(roots, root)
		}
		if cwd, err := a.machine.Cwd(a.pid); err == nil {
			if root, err := store.Find(cwd); err == nil {
				roots = append(roots, root)
			}
		}
	}
	return roots
}

func (f finder) eachRecordOf(root string, look func(o *observe.Observer, r *agent.Record)) error {
	o := *f.Observer
	if root != f.Store.Project() {
		opened, err := store.Open(root)
		if err != nil {
			return nil // no project any more, or another user's
		}
		defer opened.Close()
		o.Store = opened
	}
	if !o.Store.Exists() {
		return nil
	}
	records, err := o.Store.Records()
	if err != nil {
		return err
	}
	for i := range records {
		if r := &records[i].Record; r.Process != nil {
			look(&o, r)
		}
	}
	return nil
}

// doubt is why an agent's record, or the folder with the key, cannot be trusted; nil: both can.
func (f finder) doubt(c *Caller) error {
	env := c.env
	if c.record.Process.Adopted == nil {
		env = f.Machine.EnvironOf(c.record.Process.LauncherIdentity())
	}
	if err := f.doubtHome(env); err != nil {
		return err
	}
	keeper := trust.NewKeeper(f.Store.Home())
	project, err := store.Open(c.project)
	if err != nil {
		return err
	}
	defer project.Close()
	project.Use(keeper)
	return project.CheckSeal(&c.record)
}

// doubtHome is why the command's folder for the user's state cannot be trusted: the caller may
// have named another one, with a key of its own, in the command's environment.
func (f finder) doubtHome(env []string) error {
	if f.Store.Home() == "" {
		return errors.New("there is no folder for the user's state")
	}
	if env == nil {
		return errors.New("it has ended")
	}
	if home, err := trust.HomeOf(env); err != nil || home != f.Store.Home() {
		return errors.New("the command has another state folder than its caller")
	}
	return nil
}

// mode is the permission mode that the caller has: the narrower one of what is recorded and
// what it was started with.
func (c *Caller) mode() agent.PermissionMode {
	recorded := c.record.LaunchPermissionMode()
	cmdline, err := c.at.Machine.Cmdline(c.record.Process.PID)
	if err != nil {
		return recorded
	}
	if live := agent.PermissionMode(claude.ReadLaunch(cmdline).PermissionMode); live != "" && live.Within(recorded) {
		return live
	}
	return recorded
}

// manages reports whether the caller may give what it does not have itself. A mark alone can be
// anybody's.
func (c *Caller) manages() bool {
	return c.identified && c.doubt == nil && c.record.MayManage && c.record.Process.Adopted == nil
}

// Is reports whether an agent of a project is the caller. One of another project that has the
// same name is not.
func (c *Caller) Is(project string, handle agent.Handle) bool {
	return c.record.Handle.Same(handle) && observe.SameFolder(c.project, project)
}
