package link

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// slow is a writer that takes its time.
type slow struct {
	takes time.Duration
	text  string
}

func (s *slow) Write(text []byte) (int, error) {
	<-time.After(s.takes)
	s.text += string(text)
	return len(text), nil
}

// What has come is not written to while its user reads it, and a terminal that takes nothing does not hold a user who leaves.
func TestNothingIsPrintedAfterLeaving(t *testing.T) {
	t.Parallel()
	for takes, until := range map[time.Duration]time.Duration{0: 0, afterItsEnd / 2: afterItsEnd / 2, time.Hour: afterItsEnd} {
		synctest.Test(t, func(t *testing.T) {
			out := &slow{takes: takes}
			x := newExchange(Request{}, Streams{Out: out, Err: out})
			printed := make(chan struct{})
			go func() { x.print(stdout, []byte("first")); close(printed) }()
			defer func() { <-printed }()
			synctest.Wait()
			began := time.Now()
			x.leave()
			rig.Equal(t, time.Since(began), until, "a write of %s: left after", takes)
			if takes > afterItsEnd {
				return
			}
			rig.Equal(t, out.text, "first", "what the user reads")
			x.print(stderr, []byte("second"))
			rig.Equal(t, out.text, "first", "what is written later")
		})
	}
}

// full is a pipe whose reader takes nothing until the test ends.
type full struct {
	once    sync.Once
	then    func()
	emptied <-chan struct{}
}

func (f *full) Write(text []byte) (int, error) {
	f.once.Do(f.then)
	<-f.emptied
	return len(text), nil
}

// A user leaves a command, and the connection, when what prints takes nothing, such as a pager.
func TestAPagerDoesNotHoldItsUser(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	f.Limits.Parting = time.Millisecond
	late, empty := context.WithCancel(rig.Patient(t))
	defer empty()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	_, err := f.Run(ctx, f.request(false, "stay"), Streams{Out: &full{then: leave, emptied: late.Done()}, Err: &said{}})
	rig.Check(t, errors.Is(err, context.Canceled), "%v", err)
	f.Link.mu.Lock()
	c := f.Link.conn
	f.Link.mu.Unlock()
	f.Link.Close()
	rig.Check(t, late.Err() == nil, "it has left when the pager did")
	empty()
	<-c.ended
}

// Each of those that wait for a connection leaves when it wants to. The last one ends the attempt.
func TestEachWaiterLeavesByItself(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	f.become("mute")
	waits := func() (leave context.CancelFunc, ended chan error) {
		ctx, leave := context.WithCancel(t.Context())
		ended = make(chan error, 1)
		go func() {
			_, err := f.Run(ctx, f.request(true, "say"), Streams{Out: &said{}, Err: &said{}})
			ended <- err
		}()
		return leave, ended
	}
	leaveFirst, first := waits()
	defer leaveFirst()
	_, err := os.ReadFile(filepath.Join(f.state, "gate"))
	rig.Must(t, err) // ssh runs
	leaveSecond, second := waits()
	leaveSecond()
	rig.Check(t, fail.KindOf(<-second) == fail.Interrupted, "the second was not interrupted")
	select {
	case err := <-first:
		t.Errorf("the first has ended with the second: %v", err)
	default:
	}
	rig.Must(t, os.Remove(filepath.Join(f.state, "mute")))
	leaveFirst()
	rig.Check(t, fail.KindOf(<-first) == fail.Interrupted, "the first was not interrupted")
	_, err = f.Run(t.Context(), f.request(true, "say"), Streams{Out: &said{}, Err: &said{}})
	rig.Must(t, err)
	rig.Equal(t, f.ran(), 1, "commands ran")
}

// Those that wait for one connection learn together that it cannot be made: a host that refuses a login is asked once.
func TestARefusalIsForAllWaiters(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	f.become("slow-refusal")
	var ended []chan error
	for range 3 {
		one := make(chan error, 1)
		ended = append(ended, one)
		go func() {
			_, err := f.Run(t.Context(), f.request(true, "say"), Streams{Out: &said{}, Err: &said{}})
			one <- err
		}()
	}
	f.untilWaiting(len(ended))
	f.open()
	for _, one := range ended {
		un, is := errors.AsType[*Unreachable](<-one)
		rig.Check(t, is && un.Reason == Refused, "%v", un)
	}
	rig.Equal(t, f.read("attempts"), ".", "attempts to log in")
}
