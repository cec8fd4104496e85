package ui

import (
	"fmt"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// asking is the row of an agent that has waited for a person for some minutes.
func asking(handle agent.Handle, minutes int) inspect.Row {
	r := uitest.Record(handle)
	sight := observe.Sight{Record: r, Status: agent.Status{State: agent.Waiting, Age: new(time.Duration(minutes) * time.Minute)}}
	return inspect.Row{Handle: handle, Sight: sight}
}

func TestTheQueueOfAllProjectsIsByAge(t *testing.T) {
	t.Parallel()
	now := time.Now()
	open := func(rows ...inspect.Row) *OpenProject {
		project := &observe.Project{Store: store.Absent(t.TempDir()), Now: func() time.Time { return now }}
		return &OpenProject{Supervisor: newSupervisor(project, nil), Rows: rows}
	}
	all := []*OpenProject{open(asking("alice", 3), asking("bob", 1)), {Err: fail.Errorf(fail.BadInput, "damaged")}, open(asking("bob", 4), asking("carol", 2))}
	var queue []string
	for _, needy := range QueueOf(all, agent.Bands{}) {
		queue = append(queue, fmt.Sprint(needy.Handle, " ", needy.Project == all[0]))
	}
	rig.Same(t, "the queue", []string{"bob false", "alice true", "carol false", "bob true"}, queue)
}
