package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/clock"
)

// ErrBegun is the error if another process has begun the job.
var ErrBegun = errors.New("another process has begun this request")

// Fill writes the job's input, unless it is there.
func (j *Job) Fill(from io.Reader) error {
	if !j.NeedsInput() {
		_, err := io.Copy(io.Discard, from)
		return err
	}
	file, err := os.CreateTemp(string(j.tree), filling) // an older connection may still write another
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it is there if it was not completed
	_, err = io.Copy(file, from)
	if err == nil && j.Request.Keep { // a message of no words must not be sent after a power cut
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), j.tree.Path(input))
}

// NeedsInput reports whether the job cannot begin because its input is not there.
func (j *Job) NeedsInput() bool {
	if !j.Request.Input {
		return false
	}
	_, err := os.Lstat(j.tree.Path(input))
	return errors.Is(err, fs.ErrNotExist)
}

// Streams are the files that a job's process reads and writes.
type Streams struct{ In, Out, Err *os.File }

// Streams opens the files for the job's process. A process that will not begin the job leaves them as they are.
func (j *Job) Streams() (s Streams, err error) {
	from := os.DevNull
	if j.Request.Input {
		from = j.tree.Path(input)
	}
	if s.In, err = os.Open(from); err != nil {
		return s, err
	}
	if s.Out, s.Err, err = j.open(os.O_WRONLY|os.O_CREATE|os.O_APPEND, out, errOut); err != nil {
		return s, errors.Join(err, s.In.Close())
	}
	return s, nil
}

// Close closes the files.
func (s Streams) Close() error { return errors.Join(s.In.Close(), s.Out.Close(), s.Err.Close()) }

// Begin gives the job to this process, which must call finish with the exit code. Errors: [ErrBegun], when another process
// is seen to have begun it.
func (j *Job) Begin(ctx context.Context, self agent.Identity) (finish func(code int) error, err error) {
	held, err := j.tree.TryLock(lock)
	for held == nil && err == nil { // another process is beginning it
		if _, err := os.Lstat(j.tree.Path(began)); err == nil {
			return nil, ErrBegun
		}
		const look = 10 * time.Millisecond
		if err := clock.Sleep(ctx, look); err != nil {
			return nil, err
		}
		held, err = j.tree.TryLock(lock)
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(j.tree.Path(began)); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(ErrBegun, held.Close())
	}
	text, err := json.Marshal(self)
	if err == nil {
		err = j.write(began, text)
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return func(code int) error {
		text, err := json.Marshal(ending{code})
		if err == nil {
			err = j.write(end, text)
		}
		return errors.Join(err, held.Close())
	}, nil
}

// write writes a file of the job's process. Only what a change has become outlives a power cut: the rest is asked for again
// after it.
func (j *Job) write(name string, text []byte) error {
	if j.Keep {
		return j.tree.Write(name, text)
	}
	return j.tree.HandOverText(name, text)
}

// Attend marks that this process reads what the job writes, until release.
func (j *Job) Attend() (release func(), err error) {
	const private = 0o600
	file, err := os.OpenFile(j.tree.Path(reader), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, private)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH); err != nil {
		return nil, errors.Join(os.NewSyscallError("flock", err), file.Close())
	}
	return func() { _ = file.Close() }, nil
}
