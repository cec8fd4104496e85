package ui

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// A scripted day: ten agents in two projects finish turns, ask and crash; now and then their user goes from one that
// needs a person to the next, until none does.

// day is the two projects, in which the same names stand for different agents, with what happened.
type day struct {
	*testing.T
	now      time.Time
	projects []*OpenProject
	needs    map[*inspect.Row]time.Time // since when an agent needs the user, who has not looked yet
	arisen   int
}

func newDay(t *testing.T) *day {
	t.Helper()
	d := &day{T: t, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), needs: map[*inspect.Row]time.Time{}}
	folder := t.TempDir()
	for _, name := range []string{"api", "web"} {
		path := filepath.Join(folder, name)
		rig.Must(t, os.Mkdir(path, 0o700))
		opened, err := store.Create(path)
		rig.Must(t, err)
		t.Cleanup(func() { _ = opened.Close() })
		opened.UseHome(trust.Home(filepath.Join(folder, "state")))
		p := &OpenProject{Path: path, Supervisor: newSupervisor(&observe.Project{Store: opened, Now: func() time.Time { return d.now }}, nil)}
		for _, handle := range []agent.Handle{"ann", "bob", "cat", "dan", "eve"} {
			sight := observe.Sight{Record: uitest.Record(handle), Status: agent.Status{State: agent.Busy, SamePID: true}}
			p.Rows = append(p.Rows, inspect.Row{Handle: handle, Sight: sight})
		}
		d.projects = append(d.projects, p)
	}
	return d
}

// arises gives an agent a need, if it has none and goes on after the last one.
func (d *day) arises(row *inspect.Row, kind int) {
	if _, needs := d.needs[row]; needs {
		return
	}
	row.Status = agent.Status{State: agent.Idle, SamePID: true}
	switch kind {
	case 0:
		row.Status.State = agent.Waiting
	case 1:
		row.Status = agent.Status{State: agent.Dead, Cause: agent.Crashed}
	default:
		row.Report.Done = d.now
	}
	d.needs[row] = d.now
	d.arisen++
}

// queue looks at all agents, and returns those that need the user, who has not looked at them.
func (d *day) queue() (unseen []NeedyAgent) {
	for _, p := range d.projects {
		for i := range p.Rows {
			if since, needs := d.needs[&p.Rows[i]]; needs {
				p.Rows[i].Status.Since(since, d.now)
			}
		}
	}
	for _, needy := range QueueOf(d.projects, agent.Bands{}) {
		if !needy.Seen {
			unseen = append(unseen, needy)
		}
	}
	return unseen
}

// visit goes to the first agent of the queue, which must be one that has needed the user longest, and settles its need.
func (d *day) visit(needy NeedyAgent) {
	d.Helper()
	for i := range needy.Project.Rows {
		row := &needy.Project.Rows[i]
		if row.Handle != needy.Handle {
			continue
		}
		since, needs := d.needs[row]
		if !needs {
			d.Fatalf("%s of %s is shown again", needy.Handle, needy.Project.Path)
		}
		for _, other := range d.needs {
			rig.Check(d, !other.Before(since), "%s has needed a person since %s, and another one since %s", needy.Handle, since, other)
		}
		delete(d.needs, row)
		rig.Must(d, needy.Project.Project.Store.Seen().Mark(d.Context(), d.now, needy.Handle))
		if needy.Reason != attention.Done { // the question is answered, the crashed one resumed
			row.Status = agent.Status{State: agent.Busy, SamePID: true}
		}
	}
}

func TestADayOfTenAgentsInTwoProjects(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			d, random, visits := newDay(t), rand.New(rand.NewPCG(seed, 0)), 0
			end := d.now.Add(8 * time.Hour)
			for ; d.now.Before(end) || len(d.needs) > 0; d.now = d.now.Add(time.Minute) {
				if p := d.projects[random.IntN(2)]; d.now.Before(end) && random.IntN(3) == 0 {
					d.arises(&p.Rows[random.IntN(len(p.Rows))], random.IntN(4))
				}
				if d.now.Before(end) && random.IntN(20) > 0 {
					continue
				}
				for unseen := d.queue(); len(unseen) > 0; unseen = d.queue() {
					rig.Equal(t, len(unseen), len(d.needs), "agents that need the user")
					d.now = d.now.Add(time.Second)
					d.visit(unseen[0])
					visits++
				}
				rig.Equal(t, len(d.needs), 0, "needs that were missed")
			}
			rig.Equal(t, visits, d.arisen, "visits")
			rig.Check(t, visits > 30, "only %d needs arose", visits)
		})
	}
}
