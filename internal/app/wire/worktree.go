package wire

import (
	"cmp"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/worktree"
)

// AgentWorktree is the worktree of an agent, or what is kept of one that was removed.
type AgentWorktree struct {
	Handle agent.Handle `json:"handle"`
	State  string       `json:"state"` // "there" or "gone"; after its removal "kept", or "restored" if it is there again
	Path   string       `json:"path"`
	Branch string       `json:"branch"`
	Base   string       `json:"base,omitempty"` // the commit at which the branch began
	Stays  []string     `json:"stays"`          // why it cannot be removed now
	Ref    string       `json:"ref,omitempty"`  // of what is kept
	At     *time.Time   `json:"at,omitempty"`   // when it was removed
	Time   string       `json:"time,omitempty"` // the same, as worktree restore --at takes it
}

// OwnWorktree is the worktree that was made for an agent, in a list.
type OwnWorktree struct {
	Path    string `json:"path"`
	Branch  string `json:"branch"`
	Gone    bool   `json:"gone"`    // it is not in its place
	Changed *int   `json:"changed"` // files that differ from its last commit; null: git did not answer in time
}

// NewWorktree converts the worktree of an agent.
func NewWorktree(t supervisor.TreeState) AgentWorktree {
	return AgentWorktree{
		Handle: t.Handle, State: t.Word(), Path: t.Path, Branch: t.Branch, Base: t.Base,
		Stays: agent.Mapped(t.Obstacles, func(o worktree.Obstacle) string { return o.What }),
	}
}

// NewKeptWorktree converts what is kept of a worktree.
func NewKeptWorktree(k worktree.Kept) AgentWorktree {
	state := "kept"
	if k.Restored != "" {
		state = "restored"
	}
	return AgentWorktree{Handle: k.Handle, State: state, Path: cmp.Or(k.Restored, k.Path), Branch: k.Branch, Stays: []string{}, Ref: k.Ref, At: timeOf(k.At), Time: k.When()}
}

// RestoredWorktree is a worktree that was brought back.
type RestoredWorktree struct {
	Handle agent.Handle `json:"handle"`
	Path   string       `json:"path"`
	Branch string       `json:"branch,omitempty"` // missing: its branch is elsewhere, and no branch is checked out
	Ref    string       `json:"ref"`
	Files  int          `json:"files"`
}

// NewRestoredWorktree converts it.
func NewRestoredWorktree(r worktree.Restored) RestoredWorktree {
	return RestoredWorktree{Handle: r.Kept.Handle, Path: r.Path, Branch: r.Branch, Ref: r.Kept.Ref, Files: r.Files}
}
