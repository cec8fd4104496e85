package jobs

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/trust"
)

func newDrawer(t *testing.T) *Drawer {
	t.Helper()
	return Of(trust.Home(rig.MemoryDir(t)))
}

// took is a request that a machine has taken.
func (d *Drawer) took(t *testing.T, r Request) *Job {
	t.Helper()
	if len(r.Args) == 0 {
		r.Args = []string{"list"}
	}
	job, err := d.Take(uuid.NewString(), r)
	rig.Must(t, err)
	return job
}

func (j *Job) is(t *testing.T, want State, code int) {
	t.Helper()
	state, got, err := j.State()
	rig.Must(t, err)
	rig.Check(t, state == want && got == code, "state %d, code %d; want %d, %d", state, got, want, code)
}

// Of many processes that are started for a request, one runs it.
func TestARequestRunsOnce(t *testing.T) {
	t.Parallel()
	job := newDrawer(t).took(t, Request{Keep: true})
	job.is(t, New, 0)
	began := make(chan func(int) error, 20)
	var all sync.WaitGroup
	for range cap(began) {
		all.Go(func() {
			finish, err := job.Begin(t.Context(), agent.Identity{})
			rig.Check(t, (finish == nil) == errors.Is(err, ErrBegun), "%v", err)
			if finish != nil {
				began <- finish
				return
			}
			state, _, err := job.State()
			rig.Check(t, err == nil && state != New, "one that was refused: it is not seen to run: %v, %v", state, err)
		})
	}
	all.Wait()
	rig.Equal(t, len(began), 1, "processes that run it")
	job.is(t, Running, 0)
	rig.Must(t, (<-began)(7))
	rig.Must(t, job.AwaitEnd())
	job.is(t, Ended, 7)
	_, err := job.Begin(t.Context(), agent.Identity{})
	rig.Check(t, errors.Is(err, ErrBegun), "after its end: %v", err)
}

// A command that was killed is not begun again.
func TestAKilledRequest(t *testing.T) {
	t.Parallel()
	d := newDrawer(t)
	job := d.took(t, Request{Keep: true})
	rig.Must(t, job.tree.Write(began, []byte(`{}`))) // as a process leaves it that is killed
	job.is(t, Killed, 0)
	_, err := job.Begin(t.Context(), agent.Identity{})
	rig.Check(t, errors.Is(err, ErrBegun), "%v", err)
}

func TestAnIDIsOfOneRequest(t *testing.T) {
	t.Parallel()
	d := newDrawer(t)
	job := d.took(t, Request{Args: []string{"stop", "alice"}, Keep: true, Room: agent.Room{Agents: 4}})
	again, err := d.Take(job.ID, job.Request)
	rig.Must(t, err)
	rig.Same(t, "asked again", job.Request, again.Request)
	other := job.Request
	other.Args = []string{"stop", "bob"}
	_, err = d.Take(job.ID, other)
	rig.Equal(t, fail.KindOf(err), fail.Conflict, "another request: %v", err)
	_, err = d.Take("../x", other)
	rig.Equal(t, fail.KindOf(err), fail.BadInput, "no id: %v", err)
	_, err = d.Take(uuid.NewString(), Request{})
	rig.Equal(t, fail.KindOf(err), fail.BadInput, "no command: %v", err)
	_, err = d.Find(uuid.NewString())
	rig.Equal(t, fail.KindOf(err), fail.NotFound, "not taken: %v", err)
}

// An input counts when it is whole, and the first one counts.
func TestInput(t *testing.T) {
	t.Parallel()
	job := newDrawer(t).took(t, Request{Input: true})
	rig.Check(t, job.NeedsInput(), "it needs none")
	err := job.Fill(io.MultiReader(strings.NewReader("half"), cut{}))
	rig.Check(t, errors.Is(err, errCut) && job.NeedsInput(), "a part of it: %v", err)
	rig.Must(t, job.Fill(strings.NewReader("whole")))
	rig.Must(t, job.Fill(strings.NewReader("another")))
	streams, err := job.Streams()
	rig.Must(t, err)
	defer streams.Close()
	text, err := io.ReadAll(streams.In)
	rig.Check(t, err == nil && string(text) == "whole", "%q, %v", text, err)
	names, err := job.tree.Names()
	rig.Check(t, err == nil && !strings.Contains(strings.Join(names, " "), "part"), "%q, %v", names, err)
}

type cut struct{}

var errCut = errors.New("cut")

func (cut) Read([]byte) (int, error) { return 0, errCut }

// What changed something is remembered for a day, a look for minutes, and what runs as long as it runs.
func TestWhatIsForgotten(t *testing.T) {
	t.Parallel()
	d := newDrawer(t)
	change, look, runs, idle := d.took(t, Request{Keep: true}), d.took(t, Request{}), d.took(t, Request{}), d.took(t, Request{Keep: true})
	for _, job := range []*Job{change, look} {
		finish, err := job.Begin(t.Context(), agent.Identity{})
		rig.Must(t, err)
		rig.Must(t, finish(0))
	}
	finish, err := runs.Begin(t.Context(), agent.Identity{})
	rig.Must(t, err)
	there := func(job *Job) bool {
		_, err := os.Lstat(job.Files())
		return err == nil
	}
	d.Sweep(time.Now())
	rig.Same(t, "at once", []bool{true, true, true, true}, []bool{there(change), there(look), there(runs), there(idle)})
	d.Sweep(time.Now().Add(time.Hour))
	rig.Same(t, "an hour later", []bool{true, false, true, true}, []bool{there(change), there(look), there(runs), there(idle)})
	d.Sweep(time.Now().Add(25 * time.Hour))
	rig.Same(t, "a day later", []bool{false, false, true, false}, []bool{there(change), there(look), there(runs), there(idle)})
	rig.Must(t, finish(0))
}

// Requests over cuts: asked again any number of times, in any order, between kills and sweeps, none runs twice.
func TestRequestsOverCuts(t *testing.T) {
	t.Parallel()
	d, random := newDrawer(t), rand.New(rand.NewPCG(38, 2))
	type fate struct {
		job    *Job
		ran    int
		finish func(int) error
	}
	var all []*fate
	for range 2000 {
		if len(all) < 20 || random.IntN(20) == 0 {
			all = append(all, &fate{job: d.took(t, Request{Keep: random.IntN(4) > 0})})
		}
		one := all[random.IntN(len(all))]
		switch random.IntN(4) {
		case 0, 1: // asked for, or asked for again
			again, err := d.Take(one.job.ID, one.job.Request)
			rig.Must(t, err)
			finish, err := again.Begin(t.Context(), agent.Identity{})
			if err == nil {
				one.ran, one.finish = one.ran+1, finish
			}
			rig.Check(t, err == nil || errors.Is(err, ErrBegun), "%v", err)
		case 2:
			if one.finish != nil {
				rig.Must(t, one.finish(0))
				one.finish = nil
			}
		default:
			d.Sweep(time.Now())
		}
		rig.Check(t, one.ran <= 1, "a request ran %d times", one.ran)
	}
}

// A request whose output is no longer needed does not run again if it is asked for again.
func TestAForgottenRequestDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	d := newDrawer(t)
	job := d.took(t, Request{Keep: true, Input: true})
	rig.Must(t, job.Fill(strings.NewReader("a package")))
	finish, err := job.Begin(t.Context(), agent.Identity{})
	rig.Must(t, err)
	rig.Must(t, finish(0))
	rig.Must(t, d.Forget(func(Request) bool { return true }))
	size, err := os.Stat(job.tree.Path(input))
	rig.Check(t, err == nil && size.Size() == 0, "its input is kept: %v", err)
	job.is(t, Ended, 0)
	_, err = job.Begin(t.Context(), agent.Identity{})
	rig.Check(t, errors.Is(err, ErrBegun), "%v", err)
}

// A command that writes what its reader says not to have is ended. One whose output is read is not, also where the space cannot
// be given back; and one whose reader, with an older program, says nothing.
func TestOutputThatIsNotRead(t *testing.T) {
	t.Parallel()
	drawer := Of(trust.Home(t.TempDir()))
	const limit, much = 4 << 20, 6 << 20
	for what, reads := range map[string]func(*Job) error{
		"read":                       func(j *Job) error { return errors.Join(j.Free(0, 0), j.Free(much, 0)) },
		"read, and takes its space":  func(j *Job) error { return errors.Join(j.note(much, 0), j.note(0, 0)) },
		"read by an older program":   func(*Job) error { return nil },
		"not read":                   func(j *Job) error { return j.Free(0, 0) },
		"not read for a good part":   func(j *Job) error { return j.Free(much-limit-1, 0) },
		"read, and the other is not": func(j *Job) error { return j.Free(0, much) },
	} {
		job, err := drawer.Take(uuid.NewString(), Request{Args: []string{"list"}})
		rig.Must(t, err)
		streams, err := job.Streams()
		rig.Must(t, err)
		_, err = streams.Out.Write(make([]byte, much))
		rig.Must(t, err)
		rig.Must(t, reads(job))
		release, err := job.Attend()
		rig.Must(t, err)
		ctx := job.WhileRead(t.Context(), time.Millisecond, limit)
		isRead := strings.HasPrefix(what, "read") && !strings.HasSuffix(what, "is not")
		if isRead {
			release()
		} else {
			defer release()
		}
		<-ctx.Done()
		rig.Equal(t, strings.Contains(context.Cause(ctx).Error(), "it has printed more than 4.0 MiB that was not read"), !isRead, "%s: ended by %v", what, context.Cause(ctx))
		rig.Must(t, streams.Close())
	}
}
