package launcher

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// A full disk is no failure of the agent's, and passes: who is to start its claude again waits for room.

// noRoom tells whether something could not be written since the disk is full.
func noRoom(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// roomRetry is how often is looked whether there is room again.
const roomRetry = 10 * time.Second

// insist writes down what the policy of an agent decides by, and tries again until there is room for it
// or somebody would have the launcher leave. Without a policy nothing depends on it. awaited: somebody waits
// for the launcher already, and it is written once. letGo is called before the wait: of what others wait for,
// nothing is kept for so long.
func (l *Launcher) insist(ctx context.Context, handle agent.Handle, awaited bool, signals chan os.Signal, letGo func(), write func() error) error {
	err := write()
	if !noRoom(err) || awaited || !l.hasPolicy(handle) {
		return err
	}
	letGo()
	waiting, stop := l.untilAsked(ctx, signals, func() bool { return !l.hasPolicy(handle) })
	defer stop()
	for noRoom(err) {
		select {
		case <-waiting.Done():
			return err
		case <-l.after(roomRetry):
			err = write()
		}
	}
	return err
}

// hasPolicy tells whether the launcher may start the agent again.
func (l *Launcher) hasPolicy(handle agent.Handle) bool {
	r, err := l.Store.Load(handle)
	return err == nil && l.Restarts != nil && r.Desired != agent.DesiredStopped && r.LaunchRestart() != agent.RestartNo
}
