package private

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"

	"github.com/gofrs/flock"
)

// The rules of locks:
//
//   - Lock files are never removed: unlinking one would let a second holder in.
//   - A lock ends with its holder, however the holder dies. Go opens lock files close-on-exec, so no
//     child, above all no tmux server, can inherit one.
//   - The caller must keep the unlock function: without it the garbage collector closes the file.

// Locks is the subfolder with a Folder's lock files.
const Locks = "locks"

// A short lock is held for milliseconds. It is stuck when this many checks in a row, one a second, find the
// same holder.
const (
	looks     = 5
	lookEvery = time.Second
	busyLooks = 600 // for a lock whose holders change: a newcomer may get it before one that waits
)

// TryLock takes a lock; unlock is nil when another holder has it.
func (f *Folder) TryLock(name string) (unlock func(), err error) {
	lock := f.lockFile(name, os.O_CREATE|os.O_RDWR)
	locked, err := lock.TryLock()
	if errors.Is(err, syscall.EROFS) { // an existing lock file can be locked even so: stop must be able to end an agent
		lock = f.lockFile(name, os.O_RDONLY)
		if locked, err = lock.TryLock(); errors.Is(err, fs.ErrNotExist) {
			err = syscall.EROFS
		}
	}
	unlock = func() { _ = lock.Close() }
	if err == nil && locked {
		return unlock, nil
	}
	unlock()
	if err != nil {
		err = f.LockFailed(name, err)
	}
	return nil, err
}

// Lock waits for a lock whose holders keep it for milliseconds. Errors: Conflict when the same holder has
// had it for five seconds.
func (f *Folder) Lock(ctx context.Context, name string) (unlock func(), err error) {
	lock := f.lockFile(name, os.O_CREATE|os.O_RDWR)
	if err := awaitShort(ctx, lock); err != nil {
		return nil, f.LockFailed(name, err)
	}
	return func() { _ = lock.Close() }, nil
}

// LockFile is [Folder.Lock] of a file that is nothing but a lock.
func LockFile(ctx context.Context, path string) (unlock func(), err error) {
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW), flock.SetPermissions(0o600))
	if err := awaitShort(ctx, lock); err != nil {
		return nil, lockFailed(path, path, Remedied(filepath.Dir(path), err))
	}
	return func() { _ = lock.Close() }, nil
}

// Await waits for a lock until the context ends. Errors: that of the context.
func (f *Folder) Await(ctx context.Context, name string) (unlock func(), err error) {
	lock := f.lockFile(name, os.O_CREATE|os.O_RDWR)
	if err := await(ctx, lock, nil); err != nil {
		if ctx.Err() == nil {
			err = f.LockFailed(name, err)
		}
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}

// awaitShort waits for a lock whose holders keep it for milliseconds. Each of them leaves on the lock file the
// time at which it got the lock: a queue that moves is not stuck. Errors: [ErrStayedLocked].
func awaitShort(ctx context.Context, lock *flock.Flock) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	if err := await(ctx, lock, look.C); err != nil {
		return err
	}
	_ = os.Chtimes(lock.Path(), time.Time{}, time.Now())
	return nil
}

// await waits in the kernel. If two hundred waiters polled instead, they would slow down the holder, and find the
// lock free only by chance. A caller that gives up leaves a goroutine and a descriptor until the lock is granted;
// the lock is then released at once. Errors: those of [awaitGrant].
func await(ctx context.Context, lock *flock.Flock, look <-chan time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if locked, err := lock.TryLock(); locked || err != nil {
		return err // nearly always: no other goroutine is needed
	}
	granted := make(chan error, 1)
	go func() { granted <- lock.Lock() }()
	given, err := awaitGrant(ctx, granted, look, func() (taken time.Time) {
		if info, err := os.Lstat(lock.Path()); err == nil {
			taken = info.ModTime()
		}
		return taken
	})
	if !given {
		go func() {
			if <-granted == nil {
				_ = lock.Close()
			}
		}()
	}
	return err
}

// awaitGrant waits until a lock is granted, and checks at intervals when its holder got it. Errors: that of the
// context; [ErrStayedLocked] if it was always the same holder.
func awaitGrant(ctx context.Context, granted <-chan error, look <-chan time.Time, taken func() time.Time) (given bool, err error) {
	var holder time.Time
	for all, seen := 0, 0; ; {
		select {
		case err := <-granted:
			return true, err
		case <-ctx.Done():
			return false, ctx.Err()
		case <-look:
		}
		if now := taken(); !now.Equal(holder) {
			holder, seen = now, 0
		}
		if seen++; seen == looks {
			return false, fmt.Errorf("%w for %s", ErrStayedLocked, looks*lookEvery)
		}
		if all++; all == busyLooks {
			return false, fmt.Errorf("%w for %s, held by one process after another", ErrStayedLocked, busyLooks*lookEvery)
		}
	}
}

// lockFile makes a new object for each acquisition: one object locked twice succeeds
// twice.
func (f *Folder) lockFile(name string, flag int) *flock.Flock {
	return flock.New(f.LockPath(name), flock.SetFlag(flag|syscall.O_NOFOLLOW), flock.SetPermissions(0o600))
}

// LockPath returns the absolute path of a lock file.
func (f *Folder) LockPath(name string) string { return f.Path(Locks, name) }

// LockFailed says which lock could not be taken, and why.
func (f *Folder) LockFailed(name string, err error) error {
	return lockFailed(f.Label(Locks+"/"+name), f.LockPath(name), f.Remedied(err))
}

// ErrStayedLocked is the error for a lock that its holders should keep for milliseconds and that was not released.
var ErrStayedLocked = errors.New("stayed locked")

func lockFailed(label, path string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) { // of a caller that has less time
		err = ErrStayedLocked
	}
	if errors.Is(err, ErrStayedLocked) {
		return fail.Errorf(fail.Conflict, "%s %w", label, err).
			Hint("a command that hangs holds it; to see which: lslocks --output PID,COMMAND,PATH")
	}
	failure := fail.Errorf(fail.Failed, "lock %s: %w", label, err)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) {
		return failure.Hint("nbs-worker did not create this; look at it, then remove it: rm -r %s", human.ShellWord(path))
	}
	return failure
}
