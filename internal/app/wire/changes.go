package wire

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/changes"
)

// Changes are what an agent has changed in its git working tree.
type Changes struct {
	Handle      agent.Handle  `json:"handle"`
	Tree        string        `json:"tree"`             // the top folder
	Own         bool          `json:"own"`              // the tree was made for it; otherwise others may have changed it too
	Branch      string        `json:"branch,omitempty"` // absent: none is checked out
	Head        string        `json:"head,omitempty"`   // the commit that is checked out
	Base        string        `json:"base"`             // the commit with which the tree is compared
	BaseIs      string        `json:"base_is"`          // in words
	Commits     int           `json:"commits"`          // since the base
	Files       []ChangedFile `json:"files"`
	Uncommitted int           `json:"uncommitted"`     // files
	Merged      int           `json:"merged"`          // commits of it that the branch of the main tree has
	InMain      bool          `json:"in_main"`         // the branch of the main tree has the files as they are here, by another commit
	Merge       []string      `json:"merge"`           // commands that merge what is committed
	Patch       string        `json:"patch,omitempty"` // if asked for
}

// ChangedFile is a file that an agent has changed.
type ChangedFile struct {
	Path      string `json:"path"`           // in the tree
	From      string `json:"from,omitempty"` // its path before
	Change    string `json:"change"`         // added, modified, deleted, renamed or retyped
	Added     *int   `json:"added"`          // lines; null: it has none
	Removed   *int   `json:"removed"`
	Committed bool   `json:"committed"` // all of the change
}

// NewChanges converts changes. merge are the commands that merge them.
func NewChanges(handle agent.Handle, c *changes.Changes, patch string, merge []string) Changes {
	out := Changes{
		Handle: handle, Tree: c.Top, Own: c.Own, Branch: c.Branch, Head: c.Head, Base: c.Base.Commit, BaseIs: c.Base.Words, Commits: c.Commits,
		Files: []ChangedFile{}, Uncommitted: c.Uncommitted, Merged: c.Merged, InMain: c.InMain, Merge: list(merge), Patch: patch,
	}
	for i := range c.Files {
		f := &c.Files[i]
		file := ChangedFile{Path: f.Path, From: f.From, Change: f.Word(), Committed: !f.Uncommitted}
		if !f.Binary {
			file.Added, file.Removed = &f.Added, &f.Removed
		}
		out.Files = append(out.Files, file)
	}
	return out
}
