package bridge

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/sim/rig"
)

// forgetful is a system that knows ids for 20 minutes.
type forgetful struct{ fake }

func (forgetful) Traits() Traits {
	t := fake{}.Traits()
	t.SendsOnceFor, t.LastRun = 20*time.Minute, time.Now().Add(-19*time.Minute)
	return t
}

// A message that is sent again is told as perhaps known once the system may have forgotten the first attempt, however long
// the bridge runs.
func TestAMessageInDoubtIsOneAsLongAsItsIDIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := New(Options{System: forgetful{}, Log: func(string) {}})
		rig.Must(t, clock.Sleep(t.Context(), time.Hour))
		refused := time.Now()
		var began time.Time
		for _, isSent := range []bool{false, true} {
			err := b.persist(t.Context(), Place{Chat: "7"}, func(perhapsAgain bool) error {
				if time.Since(refused) < time.Hour { // nothing is in doubt
					rig.Check(t, !perhapsAgain, "it is told as perhaps known, and was never sent")
					return &Failure{Err: errors.New("down"), NotDone: true}
				}
				if began.IsZero() {
					began = time.Now()
				}
				isLate := time.Since(began) >= 20*time.Minute
				rig.Check(t, perhapsAgain == isLate, "after %s it is told as perhaps known: %v", time.Since(began), perhapsAgain)
				if isLate || isSent {
					return nil
				}
				return errors.New("lost")
			})
			rig.Must(t, err)
			began = time.Time{}
		}
	})
}

// What an earlier process may have sent is one message only if it ended a short time ago, and its ids still count.
func TestWhatAnEarlierProcessSentIsOneForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := New(Options{System: forgetful{}, Log: func(string) {}})
		rig.Check(t, b.isOnce(b.traits.LastRun), "after 19 minutes it is not one")
		rig.Must(t, clock.Sleep(t.Context(), time.Minute))
		rig.Check(t, !b.isOnce(b.traits.LastRun) && !b.isOnce(time.Time{}), "after 20 minutes, or without a time, it is one")
	})
}
