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

// A full disk is no failure of the agent, and is temporary: the launcher waits for space before it starts claude
// again. The same holds for a lock of .nbs that another process keeps, such as a suspended command.

// noRoom reports whether a write failed because the disk is full.
func noRoom(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// roomRetry is how often the launcher retries a write.
const roomRetry = 10 * time.Second

// comesFree reports whether a write failed for a temporary reason that the agent did not cause.
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
