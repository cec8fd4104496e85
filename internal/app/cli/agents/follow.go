package agents

import (
	"context"
	"os"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/team/subscribe"
)

// followed are the agents of some projects, which are looked at again when one may have changed. A project that the user
// begins later is not among them.
type followed struct {
	*subscribe.Changes

	projects []*ui.OpenProject
	signs    map[*ui.OpenProject]*subscribe.Signs
	at       time.Time // to which the ages of the latest look are right
}

// follow subscribes to projects; the caller closes the subscription. Errors: Unfit at a limit of the kernel.
func follow(projects []*ui.OpenProject) (*followed, error) {
	w := &followed{projects: projects, signs: map[*ui.OpenProject]*subscribe.Signs{}}
	var all []*subscribe.Signs
	for _, p := range projects {
		if p.Supervisor == nil {
			continue
		}
		store := p.Project.Store
		signs, err := subscribe.To(p.Project, subscribe.Wanted{Files: []string{store.Seen().Path(), store.Watching().PauseFile()}})
		if err != nil {
			subscribe.Join(0, all...).Close()
			return nil, err
		}
		w.signs[p], all = signs, append(all, signs)
	}
	const within = 300 * time.Millisecond // a look is at all agents
	w.Changes = subscribe.Join(within, all...)
	return w, nil
}

// run looks at the agents and calls show, at once and after each change, until the context ends. If show has shown ages,
// it is called again in a while, and it is when the terminal has another size; neither costs a look. Errors: that of the
// context, or of show.
func (w *followed) run(ctx context.Context, resized <-chan os.Signal, show func() (ages bool, err error)) error {
	const while = 20 * time.Second
	for changed := true; ; {
		if changed {
			w.look(ctx)
		} else {
			w.age()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		ages, err := show()
		if err != nil {
			return err
		}
		var passed <-chan time.Time
		if ages {
			passed = time.After(while)
		}
		select {
		case _, changed = <-w.C():
			if !changed {
				return w.Err()
			}
		case <-passed:
			changed = false
		case <-resized:
			changed = false
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look looks at the agents.
func (w *followed) look(ctx context.Context) {
	ui.LookAtEvery(ctx, w.projects)
	w.at = time.Now()
	for p, signs := range w.signs {
		for i := range p.Rows {
			signs.Looked(p.Rows[i].Handle, &p.Rows[i].Sight)
		}
	}
}

// age makes the states of the latest look as old as they are now.
func (w *followed) age() {
	passed := time.Since(w.at)
	w.at = w.at.Add(passed)
	for _, p := range w.projects {
		for i := range p.Rows {
			if status := &p.Rows[i].Status; status.Age != nil {
				status.Age = new(*status.Age + passed)
			}
		}
	}
}
