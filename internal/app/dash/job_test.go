package dash

import (
	"context"
	"strings"
	"testing"

	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/platform/slurm"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// An agent in a job of Slurm shows it as list does: its node, or why it waits. A narrow screen has no room for that.
func TestJobsAreShown(t *testing.T) {
	t.Parallel()
	rows := team()
	rows[0].Job, rows[2].Job = "12 RUNNING on n1", "13 PENDING: ReqNodeNotAvail, Reserved for maintenance"
	for width, want := range map[int]string{
		59: "", 80: "12 RUNNING on n1|13 PENDING: ReqNo…", 140: "12 RUNNING on n1|13 PENDING: ReqNodeNotAvail, Reserv…",
	} {
		m := screenOf(rows)
		m.Width = width
		view := m.View()
		rig.Equal(t, strings.Contains(strings.Split(view, "\n")[1], "JOB"), want != "", "%d columns have the heading:\n%s", width, view)
		for word := range strings.SplitSeq(want, "|") {
			rig.Check(t, strings.Contains(view, word), "no %q in\n%s", word, view)
		}
	}
	m, _ := press(screenOf(rows), strings.Fields("/ m a i n t e n a n c e enter")...)
	rig.Check(t, len(m.shown) == 1 && m.Selected().Handle == "bob", "the filter leaves %+v", m.Selected())
	m = screenOf(team())
	rig.Check(t, !strings.Contains(strings.Split(m.View(), "\n")[1], "JOB"), "a column for no job")
}

// A row of this machine and one of a host say the same of a job.
func TestJobOfARow(t *testing.T) {
	t.Parallel()
	p := &project{inspector: &inspect.Inspector{Project: &observe.Project{Store: store.Absent(t.TempDir())}}, words: Words{Pull: noPull}}
	far := newFarRows("build1", Words{Pull: noPull})
	for want, job := range map[string]*observe.Job{
		"":                       nil,
		"12 RUNNING on n1":       {Job: slurm.Job{ID: "12", State: "RUNNING", Node: "n1"}},
		"13 PENDING: Dependency": {Job: slurm.Job{ID: "13", State: "PENDING", Reason: "Dependency"}},
		"unreachable":            {Err: context.DeadlineExceeded},
	} {
		here := p.row(&inspect.Row{Handle: "alice", Sight: observe.Sight{Job: job}}, nil, nil, noon)
		there := far.row(&wire.Agent{Handle: "alice", Job: wire.NewJob(job)}, noon)
		rig.Equal(t, here.Job, want, "here")
		rig.Equal(t, there.Job, want, "at a host")
	}
	hostile := far.row(&wire.Agent{Handle: "alice", Job: &wire.Job{ID: "1\x1b[2J", State: "RUNNING"}}, noon)
	rig.Check(t, !strings.Contains(hostile.Job, "\x1b"), "%q", hostile.Job)
}
