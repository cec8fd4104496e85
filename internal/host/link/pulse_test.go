package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// playStuck is a host that greets, and then neither reads nor writes.
func playStuck() {
	fmt.Println(greeting)
	out := writer{to: os.Stdout}
	_ = out.sendJSON(hello, 0, hi{Protocol, "1", true, true})
	end := make(chan os.Signal, 1) // with it, the runtime does not take the wait for a deadlock
	signal.Notify(end, syscall.SIGTERM)
	<-end
}

// A host that takes nothing, although ssh reaches its machine, is left after a silence.
func TestAHostThatTakesNothing(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	f.become("stuck")
	f.Limits = Limits{Contact: 500 * time.Millisecond, Parting: time.Minute, Silence: 200 * time.Millisecond}
	in := strings.NewReader(strings.Repeat("x", 8<<20))
	_, err := f.Run(t.Context(), f.request(true, "cat"), Streams{In: in, Out: io.Discard, Err: io.Discard})
	far, is := errors.AsType[*Unreachable](err)
	rig.Check(t, is && far.Reason == TimedOut, "%v", err)
	rig.Check(t, strings.Contains(err.Error(), "the command may go on there"), "%v", err)
}

// A host that greets and is stopped then gives no sign of life; one that lives gives them without a request.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	rig.Check(t, f.Heard().IsZero(), "heard without a connection")
	began := time.Now()
	rig.Must(t, f.Reach(t.Context()))
	first := f.Heard()
	rig.Check(t, !first.Before(began.Round(0)), "heard at %s, began at %s", first, began)
	_, err := f.Run(t.Context(), f.request(true, "say"), Streams{Out: &said{}, Err: &said{}})
	rig.Must(t, err)
	rig.Check(t, f.Heard().After(first), "its answer was not heard")

	stuck := newFar(t)
	stuck.become("stuck")
	rig.Must(t, stuck.Reach(t.Context()))
	first = stuck.Heard()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	stuck.Limits.Parting = time.Millisecond
	_, _ = stuck.Run(ctx, stuck.request(true, "say"), Streams{Out: &said{}, Err: &said{}})
	rig.Equal(t, stuck.Heard(), first, "when a host was heard that is stopped")
}

// A host serves a client for as long as that sends beats, sends beats itself, and leaves one that has gone without a word.
func TestAClientThatHasGone(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		fromClient, toHost := io.Pipe()
		fromHost, toClient := io.Pipe()
		served := make(chan error, 1)
		began := time.Now()
		go func() {
			s := Server{Jobs: hostJobs(state)}
			served <- s.Serve(t.Context(), fromClient, toClient)
		}()
		heard := 0
		listened := make(chan struct{})
		go func() {
			defer close(listened)
			lines := bufio.NewReader(fromHost)
			_, _ = lines.ReadString('\n')
			for {
				if f, err := readFrame(lines); err != nil {
					return
				} else if f.kind == beat {
					heard++
				}
			}
		}()
		client := writer{to: toHost}
		alive, die := context.WithTimeout(t.Context(), time.Hour)
		defer die()
		go client.sendBeats(alive, silence)
		err := <-served
		passed := time.Since(began)
		rig.Check(t, fail.KindOf(err) == fail.TimedOut, "%v", err)
		rig.Check(t, passed > time.Hour && passed < time.Hour+2*silence, "it has served for %s", passed)
		_ = toHost.Close()
		_ = toClient.Close()
		<-listened
		rig.Check(t, heard >= 4*60, "%d beats of the host", heard)
	})
}

// While this process was suspended, nothing could be heard.
func TestASuspensionIsNoSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var quiet stopwatch
		quiet.start()
		<-time.After(silence - time.Second)
		quiet.restart()
		rig.Equal(t, quiet.elapsed(), 0, "after a suspension")
		began := time.Now()
		rig.Check(t, awaitSilence(t.Context(), silence, &quiet) > silence, "there was no silence")
		rig.Check(t, time.Since(began) > silence, "after %s", time.Since(began))
	})
}
