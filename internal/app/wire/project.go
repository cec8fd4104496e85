package wire

import (
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/projects"
)

// Project is a known project of the user.
type Project struct {
	Path   string     `json:"path"`
	State  string     `json:"state"`           // there, gone, moved, or closed: it is there and cannot be opened
	Moved  string     `json:"moved,omitempty"` // where a moved project is now
	Agents *int       `json:"agents"`          // null: unknown
	First  *time.Time `json:"first"`           // when it became known
	Last   *time.Time `json:"last"`            // of the last event in its journal
	Error  *Error     `json:"error,omitempty"` // why it cannot be opened
}

// NewProject converts a known project. agents is the number of its agents, -1 if err says why it is unknown.
func NewProject(p projects.Project, agents int, err error) Project {
	out := Project{Path: p.Path, State: "there", Moved: p.Moved, First: timeOf(p.First), Last: timeOf(p.Last)}
	if agents >= 0 {
		out.Agents = &agents
	}
	switch {
	case p.Moved != "":
		out.State = "moved"
	case p.Gone != nil:
		out.State = "gone"
	case err != nil:
		failure := NewFailure("", fail.KindOf(err), err.Error(), fail.HintsOf(err))
		out.State, out.Error = "closed", &failure.Error
	}
	return out
}
