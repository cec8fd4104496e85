package ui

import (
	"cmp"
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/projects"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/supervisor"
)

// OpenProject is one of the user's projects. Those that are gone are not among them.
type OpenProject struct {
	*supervisor.Supervisor // nil if the project could not be opened

	Path string
	Rows []inspect.Row // of the latest look
	Err  error         // why it could not be opened or, after a look, its agents not be listed
}

// Judge returns the judge of the project's agents. If the project could not be opened, it knows no looks.
func (p *OpenProject) Judge(bands agent.Bands) *attention.Judge {
	if p.Supervisor == nil {
		return &attention.Judge{Bands: bands, Now: time.Now()}
	}
	return attention.NewJudge(p.Project, bands)
}

// EveryProject opens all known projects of the user, and this one, sorted by path. The caller must be a person: an agent
// sees its own project only. what names the action in the refusal. gone are the known projects that are not there.
// Close closes them all. Errors: Held.
func (f *Factory) EveryProject(what string) (all []*OpenProject, gone []projects.Project, err error) {
	if err := f.CheckPerson(what); err != nil {
		return nil, nil, err
	}
	var paths []string
	if f.Opened.Exists() {
		_ = f.Opened.BecomeKnown(f.Now()) // an older project, in which nothing has changed since
		paths = append(paths, f.Opened.Project())
	}
	known, err := f.KnownProjects().Known()
	if err != nil {
		return nil, nil, err
	}
	for _, p := range known {
		switch {
		case p.Gone != nil:
			gone = append(gone, p)
		case !slices.Contains(paths, p.Path):
			paths = append(paths, p.Path)
		}
	}
	for _, path := range paths {
		all = append(all, f.openOther(path))
	}
	slices.SortFunc(all, func(a, b *OpenProject) int { return cmp.Compare(a.Path, b.Path) })
	return all, gone, nil
}

// CheckPerson refuses an agent: only a person may do what is named. It also works outside of a project, and in one that cannot be opened.
// Errors: Held.
func (f *Factory) CheckPerson(what string) error {
	root, err := f.Founding()
	if err != nil {
		return err
	}
	opened, err := store.Open(root)
	if err != nil {
		opened = store.Absent(root)
	}
	s, err := f.On(opened, nil)
	if err != nil {
		return err
	}
	return s.Caller.CheckPerson(what)
}

// KnownProjects returns the user's projects.
func (f *Factory) KnownProjects() *projects.Drawer {
	home, _ := trust.HomeOf(os.Environ()) // without a home no project is known
	return projects.Of(home)
}

// openOther opens a project beside the one of the command, for a person.
func (f *Factory) openOther(path string) *OpenProject {
	opened, err := store.Open(path)
	if err != nil {
		return &OpenProject{Path: path, Err: err}
	}
	f.others = append(f.others, opened)
	f.equip(opened)
	_ = opened.BecomeKnown(f.Now()) // with the journal that it has begun since
	project, err := f.observed(opened)
	if err != nil {
		return &OpenProject{Path: path, Err: err}
	}
	return &OpenProject{Path: path, Supervisor: newSupervisor(project, nil)}
}

// LookAtEvery looks at the agents of projects, side by side.
func LookAtEvery(ctx context.Context, all []*OpenProject) {
	const atOnce = 8 // a tmux server that does not answer holds up its own project
	places := make(chan struct{}, atOnce)
	var looks sync.WaitGroup
	for _, p := range all {
		if p.Supervisor == nil {
			continue
		}
		places <- struct{}{}
		looks.Go(func() {
			p.Rows, p.Err = p.Inspector.List(ctx)
			<-places
		})
	}
	looks.Wait()
}

// SayGone says which known projects are gone, and how to forget them, in one line.
func (f *Factory) SayGone(gone []projects.Project) {
	switch len(gone) {
	case 0:
	case 1:
		f.SayNote(gone[0].Gone.Error() + "; " + fail.HintsOf(gone[0].Gone)[0])
	default:
		f.SayNote(human.Count(len(gone), "project") + " are gone; to see them: nbs-worker project list; to forget them: nbs-worker project forget --gone")
	}
}

// Beside makes one of the projects that of the command, for what is printed about it, until back is called. The commands
// of hints act on that project then.
func (f *Factory) Beside(p *OpenProject) (back func()) {
	opened, root := f.Opened, f.Root
	if opened == nil || opened.Project() != p.Path {
		f.Root = p.Path
	}
	if p.Supervisor != nil {
		f.Opened = p.Project.Store
	}
	return func() { f.Opened, f.Root = opened, root }
}

// NeedyAgent is an agent of any project that needs a person.
type NeedyAgent struct {
	attention.Needy

	Project *OpenProject
}

// QueueOf returns the agents of projects that need a person, after a look: the most urgent first, whatever its project.
// A project that could not be read has none.
func QueueOf(all []*OpenProject, bands agent.Bands) []NeedyAgent {
	var queue []NeedyAgent
	for _, p := range all {
		if p.Supervisor == nil || p.Err != nil {
			continue
		}
		for _, needy := range p.Judge(bands).Queue(p.Rows) {
			queue = append(queue, NeedyAgent{needy, p})
		}
	}
	slices.SortStableFunc(queue, func(a, b NeedyAgent) int { return attention.Compare(a.Need, b.Need) })
	return queue
}
