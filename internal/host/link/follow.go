package link

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/fsnotify/fsnotify"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/store/jobs"
)

// follower sends what a job writes.
type follower struct {
	job            *jobs.Job
	watch          *fswatch.Watch
	stdout, stderr *os.File
	gone           <-chan struct{} // closed when the process that was started for the job has ended; nil if none was
	over           chan error      // the job's process has ended
}

// follow sends what a job writes until it has ended.
func (c *session) follow(ctx context.Context, stream uint32, f *follower, q question) (_ answer, err error) {
	job := f.job
	if f.stdout, f.stderr, err = job.Output(); err != nil {
		return answer{}, err
	}
	defer f.stdout.Close()
	defer f.stderr.Close()
	if err := errors.Join(job.HasFrom(f.stdout, q.OutAt), job.HasFrom(f.stderr, q.ErrAt)); err != nil {
		return answer{}, err
	}
	_, err = f.stdout.Seek(q.OutAt, io.SeekStart)
	_, other := f.stderr.Seek(q.ErrAt, io.SeekStart)
	if err := errors.Join(err, other); err != nil {
		return answer{}, err
	}
	for started := f.gone != nil; ; {
		state, code, err := job.State()
		if err == nil {
			err = c.copy(stream, f)
		}
		switch {
		case err != nil:
			return answer{}, err
		case state == jobs.Ended:
			return answer{Code: code}, nil
		case state == jobs.Killed:
			return answer{Killed: true}, nil
		case state == jobs.New && started && f.gone == nil:
			return answer{}, fail.Errorf(fail.Failed, "the command could not be started")
		case state == jobs.Running && f.over == nil:
			over := make(chan error, 1)
			f.over = over
			go func() { over <- job.AwaitEnd() }()
		}
		if err := f.wait(ctx); err != nil {
			return answer{}, err
		}
	}
}

// copy sends what is new.
func (c *session) copy(stream uint32, f *follower) error {
	_, err := io.Copy(part{&c.out, stdout, stream}, f.stdout)
	if err == nil {
		_, err = io.Copy(part{&c.out, stderr, stream}, f.stderr)
	}
	return err
}

// wait returns when the job may have written or ended.
func (f *follower) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.watch.Events():
	case err := <-f.watch.Errors():
		if !errors.Is(err, fsnotify.ErrEventOverflow) { // what was lost was a change
			return fswatch.Failed(err)
		}
	case <-f.gone:
		f.gone = nil
	case err := <-f.over:
		f.over = nil
		return err
	}
	return nil
}
