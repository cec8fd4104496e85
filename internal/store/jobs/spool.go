package jobs

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/portable"
)

// SpoolLimit is how much a command that only shows something may have written that its reader does not have, in bytes.
const SpoolLimit = 256 << 20

// freed is in what steps output is given back, in bytes: file systems have whole blocks.
const freed = 64 << 10

// Free gives back the space of the output that the reader has: so much of stdout, and of stderr. The output of a command
// that changed something stays, for whoever asks later what became of it.
func (j *Job) Free(stdout, stderr int64) error {
	if j.Keep {
		return nil
	}
	one, other, err := j.open(os.O_RDWR, out, errOut)
	if err != nil {
		return err
	}
	defer one.Close()
	defer other.Close()
	for file, size := range map[*os.File]int64{one: stdout, other: stderr} {
		if size -= size % freed; size > 0 {
			err = errors.Join(err, portable.FreeBeginning(file, size))
		}
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// HasFrom returns an error if the output of a file does not have what comes from a place on: NotFound.
func (j *Job) HasFrom(file *os.File, place int64) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	data, err := unix.Seek(int(file.Fd()), place, unix.SEEK_DATA)
	switch {
	case err == nil && data == place, place >= info.Size(), errors.Is(err, unix.EINVAL): // not every file system knows
		return nil
	case err == nil, errors.Is(err, unix.ENXIO):
		return fail.Errorf(fail.NotFound, "the output of request %s was read, and is gone", j.ID)
	}
	return os.NewSyscallError("lseek", err)
}

// spooled returns how much space the output takes.
func (j *Job) spooled() (bytes uint64) {
	const block = 512
	for _, name := range []string{out, errOut} {
		var info unix.Stat_t
		if unix.Lstat(j.tree.Path(name), &info) == nil {
			bytes += uint64(info.Blocks) * block //nolint:gosec // blocks are no negative number
		}
	}
	return bytes
}

// WhileRead returns a context that ends if the job has had no reader for the patience, or if its output takes more space than
// the limit.
func (j *Job) WhileRead(parent context.Context, patience time.Duration, limit uint64) context.Context {
	ctx, leave := context.WithCancelCause(parent)
	go func() {
		const looks, often = 4, 30 * time.Second
		look := time.NewTicker(min(patience/looks, often))
		defer look.Stop()
		last := time.Now()
		for time.Since(last) < patience {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
			if j.spooled() > limit {
				leave(fail.Errorf(fail.Failed, "it has printed more than %s that was not read", human.Bytes(limit)))
				return
			}
			if free, err := j.tree.TryLock(reader); err != nil || free == nil {
				last = time.Now()
			} else {
				_ = free.Close()
			}
		}
		leave(nil)
	}()
	return ctx
}
