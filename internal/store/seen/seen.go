// Package seen keeps when the user last looked at each agent of a project. It is outside of the project: a look changes
// no file of the project, and what an agent writes there hides no need of it. Losing it does no harm: the ends of turns
// are shown once more.
package seen

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

const limit = 1 << 20 // bytes of a file

// Marks are when the user last looked at the agents of one project.
type Marks struct {
	tree private.Tree
	file string
}

// In returns the marks of a project in a folder that has a file for each project.
func In(tree private.Tree, project string) *Marks { return &Marks{tree, project + ".json"} }

// Path returns the file, which changes with each look.
func (m *Marks) Path() string { return m.tree.Path(m.file) }

// All returns the times of the last looks by the agents' keys. What cannot be read is left out.
func (m *Marks) All() map[string]time.Time {
	all := map[string]time.Time{}
	if text, err := m.tree.Read(m.file, limit); err == nil && json.Unmarshal(text, &all) != nil {
		return map[string]time.Time{}
	}
	return all
}

// Mark notes a look at agents. A look that is older than the one that is noted changes nothing.
func (m *Marks) Mark(ctx context.Context, at time.Time, handles ...agent.Handle) error {
	return m.change(ctx, func(all map[string]time.Time) bool {
		changed := false
		for _, handle := range handles {
			if at.After(all[handle.Key()]) {
				all[handle.Key()], changed = at.UTC(), true
			}
		}
		return changed
	})
}

// Forget removes the mark of an agent that is dismissed.
func (m *Marks) Forget(ctx context.Context, handle agent.Handle) error {
	return m.change(ctx, func(all map[string]time.Time) bool {
		_, there := all[handle.Key()]
		delete(all, handle.Key())
		return there
	})
}

func (m *Marks) change(ctx context.Context, change func(map[string]time.Time) bool) error {
	if err := m.tree.Make(); err != nil {
		return err
	}
	unlock, err := m.tree.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := m.tree.Read(m.file, limit); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m.tree.Remedied(err)
	}
	all := m.All()
	if !change(all) {
		return nil
	}
	return m.tree.HandOver(m.file, all, limit)
}
