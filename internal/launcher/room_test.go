package launcher

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/sim/rig"
)

// A launcher that is to start its agent again waits for room, whoever has it look at the record, until it
// is asked to leave or the policy is taken back. Another does not wait.
func TestInsist(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		word    agent.RestartWord
		awaited bool
		room    bool // after two attempts
		signal  os.Signal
		writes  int
	}{
		"it looks and waits":      {agent.RestartOnFailure, false, true, observe.FollowSignal, 3},
		"it is asked to leave":    {agent.RestartOnFailure, false, false, unix.SIGTERM, 1},
		"the policy is no more":   {agent.RestartNo, false, false, observe.FollowSignal, 1},
		"somebody waits for it":   {agent.RestartOnFailure, true, false, nil, 1},
		"there never is a policy": {agent.RestartNo, false, false, nil, 1},
	} {
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
			err := l.insist(t.Context(), "alpha", c.awaited, signals, func() { kept = false }, func() error {
				if writes++; c.room && writes == 3 {
					return nil
				}
				return unix.ENOSPC
			})
			rig.Equal(t, writes, c.writes, "writes")
			rig.Check(t, errors.Is(err, unix.ENOSPC) != c.room, "%v", err)
		})
	}
}
