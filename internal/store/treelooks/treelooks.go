// Package treelooks keeps what git has said of the worktrees of one project's agents, so that a list asks it seldom. It
// is in the runtime folder, outside of the project. Losing it does no harm.
package treelooks

import (
	"encoding/json"
	"time"

	"nbs-worker/internal/store/private"
)

const (
	limit = 1 << 20 // bytes of the file
	file  = "looks.json"
)

// Look is what git has said of a worktree.
type Look struct {
	Changed int       `json:"changed"` // files that differ from the last commit, new ones too
	At      time.Time `json:"at"`
}

// Looks are the looks at the worktrees of one project.
type Looks struct{ tree private.Tree }

// In returns the looks that are kept in a folder.
func In(tree private.Tree) Looks { return Looks{tree} }

// All returns the last looks, by the paths of the worktrees. What cannot be read is left out.
func (l Looks) All() map[string]Look {
	all := map[string]Look{}
	if text, err := l.tree.Read(file, limit); err == nil && json.Unmarshal(text, &all) != nil {
		return map[string]Look{}
	}
	for path, look := range all {
		if look.Changed < 0 {
			delete(all, path)
		}
	}
	return all
}

// Put replaces all looks. Of two calls at once, one counts.
func (l Looks) Put(all map[string]Look) error {
	if err := l.tree.Make(); err != nil {
		return err
	}
	return l.tree.HandOver(file, all, limit)
}
