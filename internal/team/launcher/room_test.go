package launcher

import (
	"cmp"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// A launcher that is to start its agent again waits for room, and for a lock that somebody keeps, whoever has
// it look at the record, until it is asked to leave or the policy is taken back. Another does not wait.
func TestInsist(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		word    agent.RestartWord
		awaited bool
		room    bool // after two attempts
		signal  os.Signal
		writes  int
		cause   error // nil: a full disk
	}{
		"it looks and waits":      {agent.RestartOnFailure, false, true, observe.FollowSignal, 3, nil},
		"a lock is kept":          {agent.RestartOnFailure, false, true, observe.FollowSignal, 3, fail.Errorf(fail.Conflict, "alpha.record %w", store.ErrStayedLocked)},
		"it is asked to leave":    {agent.RestartOnFailure, false, false, unix.SIGTERM, 1, nil},
		"the policy is no more":   {agent.RestartNo, false, false, observe.FollowSignal, 1, nil},
		"somebody waits for it":   {agent.RestartOnFailure, true, false, nil, 1, nil},
		"there never is a policy": {agent.RestartNo, false, false, nil, 1, nil},
	} {
		cause := cmp.Or[error](c.cause, unix.ENOSPC)
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			begun := agent.RestartOnFailure
			if c.signal == nil {
				begun = c.word
			}
			l := restarting(t, begun, "exit 7", &again{})
			signals := make(chan os.Signal) // who sends knows that it was received
			l.testOnlyAfter = func(time.Duration) <-chan time.Time {
				_, err := l.Store.Update(t.Context(), "alpha", func(r *agent.Record) error { r.Restart.Policy = c.word; return nil })
				rig.Must(t, err)
				signals <- c.signal
				if !c.room {
					return nil // for ever
				}
				signals <- unix.SIGTSTP // nobody would receive it, had the first ended the wait
				return time.After(0)
			}
			writes, kept := 0, true
			wait := l.testOnlyAfter
			l.testOnlyAfter = func(in time.Duration) <-chan time.Time {
				rig.Check(t, !kept, "others wait for what it has while it waits")
				return wait(in)
			}
			err := l.retryWrite(t.Context(), "alpha", c.awaited, signals, func() { kept = false }, func() error {
				if writes++; c.room && writes == 3 {
					return nil
				}
				return cause
			})
			rig.Equal(t, writes, c.writes, "writes")
			rig.Check(t, errors.Is(err, cause) != c.room, "%v", err)
		})
	}
}
