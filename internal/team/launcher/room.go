package launcher

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
)

// A full disk is no failure of the agent's, and passes: the launcher waits for room before it starts claude again.
// So does a lock of .nbs that somebody keeps, such as a command that was suspended.

// noRoom reports whether something could not be written because the disk is full.
func noRoom(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// roomRetry is how often the launcher tries again to write.
const roomRetry = 10 * time.Second

// comesFree reports whether something could not be written because of what passes without the agent's doing.
func comesFree(err error) bool { return noRoom(err) || errors.Is(err, store.ErrStayedLocked) }

// retryWrite calls write, and retries temporary failures (see comesFree) until it succeeds or the launcher is asked to
// exit. It does not retry without a restart policy, nor while a verb waits for the launcher (awaited). Before each wait
// it calls letGo, which releases what others wait for.
func (l *Launcher) retryWrite(ctx context.Context, handle agent.Handle, awaited bool, signals chan os.Signal, letGo func(), write func() error) error {
	err := write()
	if !comesFree(err) || awaited || !l.hasPolicy(handle) {
		return err
	}
	letGo()
	waiting, stop := l.untilAsked(ctx, signals, func() bool { return !l.hasPolicy(handle) })
	defer stop()
	for comesFree(err) {
		select {
		case <-waiting.Done():
			return err
		case <-l.after(roomRetry):
			err = write()
		}
	}
	return err
}

// hasPolicy reports whether the launcher may start the agent again.
func (l *Launcher) hasPolicy(handle agent.Handle) bool {
	r, err := l.Store.Load(handle)
	return err == nil && l.Restarts != nil && r.Desired != agent.DesiredStopped && r.LaunchRestart() != agent.RestartNo
}
