package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine/portable"
)

// SpoolLimit is how much a command that only shows something may have written that its reader does not have, in bytes.
const SpoolLimit = 256 << 20

// freed is in what steps output is given back, in bytes: file systems have whole blocks.
const freed = 64 << 10

// had says how much of the output the reader has, in bytes of stdout and of stderr.
type had struct {
	Out int64 `json:"out"`
	Err int64 `json:"err"`
}

// Free notes how much of stdout and of stderr the reader has, and gives back its space where the file system can. The output of
// a command that changed something stays, because its user may ask later what became of it.
func (j *Job) Free(stdout, stderr int64) error {
	if j.Keep {
		return nil
	}
	if err := j.note(stdout, stderr); err != nil {
		return err
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

// note notes how much the reader has.
func (j *Job) note(stdout, stderr int64) error {
	last, _ := j.noted() // without a note it is zero
	text, err := json.Marshal(had{max(last.Out, stdout), max(last.Err, stderr)})
	if err != nil {
		return err
	}
	return j.tree.HandOverText(read, text)
}

// noted returns how much the reader has. Errors: [fs.ErrNotExist] if it does not say so, as one with an older program.
func (j *Job) noted() (h had, err error) {
	text, err := j.tree.Read(read, limit)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(text, &h)
}

// unread returns how much of the output its reader does not have; 0: it does not say.
func (j *Job) unread() (bytes int64) {
	has, err := j.noted()
	if err != nil {
		return 0
	}
	for name, size := range map[string]int64{out: has.Out, errOut: has.Err} {
		if info, err := os.Lstat(j.tree.Path(name)); err == nil {
			bytes += max(info.Size()-size, 0)
		}
	}
	return bytes
}

// WhileRead returns a context that ends if the job has had no reader for the patience, or if its reader, who says what it has,
// does not have more of the output than the limit.
func (j *Job) WhileRead(parent context.Context, patience time.Duration, limit int64) context.Context {
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
			if j.unread() > limit {
				leave(fail.Errorf(fail.Failed, "it has printed more than %s that was not read", human.Bytes(uint64(limit)))) //nolint:gosec // no negative number
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
