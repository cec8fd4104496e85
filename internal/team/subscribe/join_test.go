package subscribe

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/sim/rig"
)

// played is a subscription whose signs a test gives.
func played() *Signs {
	s := &Signs{c: make(chan Sign), closed: make(chan struct{}), ended: make(chan struct{})}
	close(s.ended)
	return s
}

func TestChangesThatAreJoined(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := played(), played()
		changes := Join(time.Second, a, b)
		count := 0
		take := func(wait time.Duration) {
			for over := time.After(wait); ; {
				select {
				case <-changes.C():
					count++
				case <-over:
					return
				}
			}
		}
		a.c <- Sign{Handle: "alpha"}
		b.c <- Sign{Handle: "beta"}
		take(time.Minute)
		rig.Equal(t, count, 1, "changes of two signs that follow each other")
		for range 3 {
			b.c <- Sign{}
			take(2 * time.Second)
		}
		rig.Equal(t, count, 4, "changes with those that follow later")
		a.c <- Sign{}
		<-time.After(time.Minute) // the taker is busy
		b.c <- Sign{}
		take(time.Minute)
		rig.Equal(t, count, 6, "changes with the one that came while another was due")
		changes.Close()
	})
}

// A subscription that fails ends them all, with its error.
func TestChangesThatFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := played(), played()
		changes := Join(time.Second, a, b)
		b.err = errors.New("no watch is left")
		close(b.c)
		_, open := <-changes.C()
		rig.Check(t, !open && errors.Is(changes.Err(), b.err), "%v", changes.Err())
		changes.Close()
	})
}
