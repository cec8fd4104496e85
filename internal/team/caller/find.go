// Package caller finds out who calls nbs-worker, and decides what the caller may do. An agent never gives more than it
// has. A person may give anything, and so may an agent that a person has spawned with --may-manage.
//
//   - The caller is found by the processes above the command, which an agent cannot choose. The command's own
//     environment does not count, because an agent can choose it.
//   - A claude without a record is not a person either; its command line shows what it has.
//   - A process that an agent left behind has the agent's mark in its environment, and may give nothing.
//   - An agent's sealed record shows what it has: permission mode, arguments, environment, configuration, folder,
//     project. If the record and the running process differ, the narrower one counts.
package caller

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

// Caller is the agent, or other claude, from whose shell a command was called; nil is a person.
type Caller struct {
	at      *observe.Project // the project in which it calls
	record  agent.Record
	project string

	// identified: a process above the command is the recorded one. Otherwise the command only
	// has the agent's mark, like any process that an agent leaves behind.
	identified bool
	byHand     bool     // not an agent, but a claude without a record
	env        []string // of its claude at the start; nil: it has ended
	doubt      error    // why it is unknown what it has; it may then give nothing. nil: it is known
}

// Find finds the caller; nil for a person.
func Find(o *observe.Project) (*Caller, error) {
	found, err := finder{o}.find()
	if found != nil {
		found.at = o
	}
	return found, err
}

// finder looks for the caller.
type finder struct{ project *observe.Project }

func (f finder) find() (*Caller, error) {
	line, server := lineage.Above(f.project.Machine)
	seen := search{line: line, handed: server.Mark(), at: len(line)}
	launcher := slices.IndexFunc(line[1:], func(a lineage.Process) bool { return f.project.Lineage().Launches(a.PID) }) + 1 // the command itself may be about to become one
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
	found.env = f.envOf(found.record.Process)
	found.doubt = f.doubt(found)
	return found, nil
}

// envOf returns the environment with which an agent's claude was started; nil if it has ended. Where that is hidden, it is
// the launcher's, from which the launcher has made it.
func (f finder) envOf(p *agent.Process) []string {
	env, err := f.project.Machine.Environ(p.PID)
	switch {
	case errors.Is(err, machine.ErrUnknown) && p.Adopted == nil:
		return f.project.Machine.EnvironOf(p.LauncherIdentity())
	case err != nil || !f.project.Machine.IsAlive(p.Identity):
		return nil
	}
	return env
}

// unidentified returns the caller if no recorded process is above the command: a claude that was started by hand, or
// a process with an agent's mark. Any process can have a mark, so a mark gives nothing, and takes from a claude what
// the claude has.
func (f finder) unidentified(line []lineage.Process, server lineage.Process, marked *Caller) *Caller {
	found := f.byHand(line, server)
	if marked != nil && (found == nil || found.record.Process == nil) {
		found = marked
	}
	if marked != nil {
		found.doubt = cmp.Or(found.doubt, marked.doubt, errors.New("only a mark in its environment says that it is "+marked.String()))
	}
	return found
}

// mayBeNamed reports whether a record could name any process in the chain: one that has a mark, or is a claude. An
// adopted claude is recognised by its name, its registry entry or the variables of its tools. What hides its environment
// may be any of these. If no process qualifies, the records are not read.
func mayBeNamed(line []lineage.Process, handed agent.Invocation) bool {
	return slices.ContainsFunc(line, func(a lineage.Process) bool {
		return a.Hidden || a.IsClaude() || claude.IsOfTools(a.Variable) || a.Mark() != "" && a.Mark() != handed
	})
}

// search collects what the records say about the processes above the command.
type search struct {
	line   []lineage.Process
	handed agent.Invocation // the mark that a tmux server hands to all of its panes

	identified *Caller // the agent whose recorded process is above the command; if there are several, the nearest
	at         int     // its place in the line
	marked     *Caller // the agent whose mark the command, or a process above it, has or hides: of this start or an earlier one
}

func (s *search) look(o *observe.Project, r *agent.Record) {
	for i := 1; i < s.at; i++ {
		pid := s.line[i].PID
		isClaude := pid == r.Process.PID && o.Machine.IsAlive(r.Process.Identity)
		isLauncher := pid == r.Process.Launcher.PID && o.Machine.IsAlive(r.Process.LauncherIdentity())
		switch {
		case !isClaude && !isLauncher:
		case o.Lineage().IsOf(r, pid):
			s.identified, s.at = &Caller{record: *r, project: o.Store.Project(), identified: true}, i
		case s.line[i].Hidden && s.marked == nil: // its mark is hidden, and the command may name another registry
			s.marked = &Caller{record: *r, project: o.Store.Project(), doubt: errors.New("only a record says that it is " + string(r.Handle))}
		}
	}
	named := func(a lineage.Process) bool { return s.names(a, o.Store.Project(), r) }
	if s.marked == nil && slices.ContainsFunc(s.line, named) {
		s.marked = &Caller{record: *r, project: o.Store.Project()}
	}
}

// names reports whether an ancestor has a mark of a record's agent.
func (s *search) names(a lineage.Process, project string, r *agent.Record) bool {
	if a.Mark() == "" || a.Mark() == s.handed {
		return false
	}
	return a.Mark() == r.Process.Invocation || r.ExitOf(a.Mark()) != nil ||
		a.Root() != "" && r.Handle.Same(a.Handle()) && folder.Same(a.Root(), project)
}

// unrecorded returns an agent whose process no record names: its record was removed or changed.
func unrecorded(line []lineage.Process, launcher int) *Caller {
	above := line[launcher-1]
	found := &Caller{project: above.Root(), doubt: errors.New("no record names its process")}
	if handle, err := agent.ParseHandle(string(above.Handle())); err == nil {
		found.record.Handle = handle
	}
	return found
}

// eachRecord calls look with the records that may name the caller: the records of this project, and of the projects
// in which the processes above work or were started. It skips damaged ones.
func (f finder) eachRecord(line []lineage.Process, look func(o *observe.Project, r *agent.Record)) error {
	seen := map[string]bool{}
	for _, root := range append([]string{f.project.Store.Project()}, rootsOf(line)...) {
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

func rootsOf(line []lineage.Process) []string {
	var roots []string
	for _, a := range line {
		if root := a.Root(); filepath.IsAbs(root) {
			roots = append(roots, root)
		}
		if root, err := store.Find(a.Cwd); a.Cwd != "" && err == nil {
			roots = append(roots, root)
		}
	}
	return roots
}

func (f finder) eachRecordOf(root string, look func(o *observe.Project, r *agent.Record)) error {
	o := *f.project
	if root != f.project.Store.Project() {
		opened, err := store.Open(root)
		if err != nil {
			return nil // no longer a project, or another user's
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

// doubt returns the reason why an agent's record or the folder with the key cannot be trusted; nil if both can.
func (f finder) doubt(c *Caller) error {
	env := c.env
	if c.record.Process.Adopted == nil {
		env = f.project.Machine.EnvironOf(c.record.Process.LauncherIdentity())
	}
	if err := f.doubtHome(env); err != nil {
		return err
	}
	keeper := trust.NewKeeper(f.project.Store.Home())
	project, err := store.Open(c.project)
	if err != nil {
		return err
	}
	defer project.Close()
	project.Use(keeper)
	return project.CheckSeal(&c.record)
}

// doubtHome returns the reason why the command's state folder cannot be trusted: the caller may have named another
// folder, with its own key, in the command's environment.
func (f finder) doubtHome(env []string) error {
	if f.project.Store.Home() == "" {
		return errors.New("there is no folder for the user's state")
	}
	if env == nil {
		return errors.New("it has ended, or its environment is hidden")
	}
	if home, err := trust.HomeOf(env); err != nil || home != f.project.Store.Home() {
		return errors.New("the command has another state folder than its caller")
	}
	return nil
}

// mode returns the caller's permission mode: the narrower one of its record and its command line.
func (c *Caller) mode() agent.PermissionMode {
	recorded := c.record.LaunchPermissionMode()
	words, err := c.at.Machine.Cmdline(c.record.Process.PID)
	if err != nil {
		return recorded
	}
	if live := agent.PermissionMode(cmdline.ReadLaunch(words).PermissionMode); live != "" && live.Within(recorded) {
		return live
	}
	return recorded
}

// manages reports whether the caller may give what it does not have itself. A mark alone is not enough: any process
// can have it.
func (c *Caller) manages() bool {
	return c.identified && c.doubt == nil && c.record.MayManage && c.record.Process.Adopted == nil
}

// Is reports whether the caller is this agent of this project. An agent with the same name in another project does
// not count.
func (c *Caller) Is(handle agent.Handle) bool {
	return c != nil && c.record.Handle.Same(handle) && folder.Same(c.project, c.at.Store.Project())
}
