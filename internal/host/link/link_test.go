package link

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/jobs"
)

// said collects what a request prints. When a text has come, it calls then.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	at   string
	then func()
}

func (s *said) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(text)
	if s.then != nil && strings.Contains(s.text.String(), s.at) {
		go s.then()
		s.then = nil
	}
	return len(text), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (f *far) request(keep bool, args ...string) Request { return NewRequest(f.Host, keep, args...) }

func TestACommandAtAHost(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	var out, errOut said
	code, err := f.Run(t.Context(), f.request(true, "say", "hello", "there"), Streams{Out: &out, Err: &errOut})
	rig.Must(t, err)
	rig.Equal(t, code, 7, "its exit code")
	rig.Equal(t, out.String(), "hello there\n", "stdout")
	rig.Equal(t, errOut.String(), "to stderr\n", "stderr")
}

func TestManyRequestsOnOneConnection(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	text := strings.Repeat("0123456789", 100_000)
	const requests = 12
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			var out, errOut said
			code, err := f.Run(t.Context(), f.request(true, "cat"), Streams{In: strings.NewReader(text), Out: &out, Err: &errOut})
			rig.Check(t, err == nil && code == 0 && out.String() == text, "%v, code %d, %d bytes", err, code, len(out.String()))
		})
	}
	all.Wait()
	rig.Equal(t, f.ran(), requests, "commands ran")
}

// A connection that is cut loses nothing and repeats nothing.
func TestACutGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	var told []string
	f.Tell = func(text string) { told = append(told, text) }
	out := &said{at: "first\n", then: func() {
		f.cut()
		f.open()
	}}
	code, err := f.Run(t.Context(), f.request(true, "two-parts"), Streams{Out: out, Err: &said{}})
	rig.Must(t, err)
	rig.Equal(t, code, 0, "its exit code")
	rig.Equal(t, out.String(), "first\nsecond\n", "stdout")
	rig.Equal(t, f.ran(), 1, "commands ran")
	rig.Check(t, slices.Contains(told, "the connection to build1 was cut; connecting again"), "what was told: %q", told)
}

// A user is told what is waited for, and can leave a host that says nothing, also if a child of ssh stays.
func TestAHostThatSaysNothing(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	f.become("mute")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	f.Tell = func(text string) {
		rig.Equal(t, text, "waiting for build1", "what is told")
		_, _ = os.ReadFile(filepath.Join(f.state, "gate"))
		leave()
	}
	_, err := f.Run(ctx, f.request(true, "say"), Streams{Out: &said{}, Err: &said{}})
	rig.Check(t, fail.KindOf(err) == fail.Interrupted && err.Error() == "interrupted before build1 was reached", "%v", err)
	text, err := os.ReadFile(filepath.Join(f.state, "child"))
	rig.Must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	rig.Must(t, err)
	rig.Must(t, syscall.Kill(pid, syscall.SIGKILL)) // it lived
}

// The fate of a request can be asked for later, also by another process.
func TestAResultIsKept(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	r := f.request(true, "say", "once")
	var again said
	for _, ask := range []Request{r, r, {ID: r.ID}} {
		var out said
		code, err := f.Run(t.Context(), ask, Streams{Out: &out, Err: &again})
		rig.Must(t, err)
		rig.Equal(t, code, 7, "its exit code")
		rig.Equal(t, out.String(), "once\n", "stdout")
		f.cut()
	}
	rig.Equal(t, f.ran(), 1, "commands ran")

	other := r
	other.Args = []string{"say", "something else"}
	_, err := f.Run(t.Context(), other, Streams{Out: &said{}, Err: &said{}})
	rig.Check(t, fail.KindOf(err) == fail.Conflict && strings.Contains(err.Error(), "was another one"), "%v", err)
	_, err = f.Run(t.Context(), Request{ID: f.request(true).ID}, Streams{Out: &said{}, Err: &said{}})
	rig.Check(t, fail.KindOf(err) == fail.NotFound, "%v", err)
	_, err = f.Run(t.Context(), Request{ID: "../../etc"}, Streams{Out: &said{}, Err: &said{}})
	rig.Check(t, fail.KindOf(err) == fail.BadInput, "%v", err)
}

func TestAnInterruptReachesTheCommand(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	out := &said{at: "staying", then: leave}
	code, err := f.Run(ctx, f.request(true, "stay"), Streams{Out: out, Err: &said{}})
	rig.Must(t, err)
	rig.Equal(t, code, 130, "its exit code")
	rig.Equal(t, out.String(), "staying\nleft\n", "stdout")
}

// A command that only shows something ends when its reader has gone. One that changes something goes on.
func TestACommandWithoutAReader(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	showing := f.request(false, "stay")
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = f.Run(t.Context(), showing, Streams{Out: &said{at: "staying", then: func() { f.become("refused"); f.cut() }}, Err: &said{}})
	}()
	<-gone
	job, err := hostJobs(f.state).Find(showing.ID)
	rig.Must(t, err)
	rig.Must(t, job.AwaitEnd())
	state, code, err := job.State()
	rig.Must(t, err)
	rig.Check(t, state == jobs.Ended && code == 130, "state %d, code %d", state, code)
}

// A command that follows something goes on when its reader has slept for longer than other commands wait for theirs.
func TestAFollowerThatSlept(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	look := f.request(false, "stay")
	begun, looked := make(chan struct{}), make(chan int, 1)
	go func() {
		code, err := f.Run(t.Context(), look, Streams{Out: &said{at: "staying", then: func() { close(begun) }}, Err: &said{}})
		rig.Check(t, err == nil, "%v", err)
		looked <- code
	}()
	<-begun
	follow := f.request(false, "two-parts")
	follow.Follow = true
	out := &said{at: "first\n", then: func() {
		f.become("down")
		f.cut()
		job, err := hostJobs(f.state).Find(look.ID)
		rig.Check(t, err == nil, "%v", err)
		rig.Check(t, job.AwaitEnd() == nil, "the look has no end")
		rig.Check(t, os.Remove(filepath.Join(f.state, "down")) == nil, "it is still down")
		f.open()
	}}
	code, err := f.Run(t.Context(), follow, Streams{Out: out, Err: &said{}})
	rig.Must(t, err)
	rig.Equal(t, code, 0, "its exit code")
	rig.Equal(t, out.String(), "first\nsecond\n", "stdout")
	rig.Equal(t, <-looked, 130, "the exit code of the look")
}

func TestAKilledCommandIsNotSaidToHaveEnded(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	r := f.request(true, "stay")
	kill := func() {
		job, err := hostJobs(f.state).Find(r.ID)
		rig.Must(t, err)
		id, err := job.Process()
		rig.Must(t, err)
		rig.Must(t, syscall.Kill(id.PID, syscall.SIGKILL))
	}
	_, err := f.Run(t.Context(), r, Streams{Out: &said{at: "staying", then: kill}, Err: &said{}})
	rig.Check(t, err != nil && strings.Contains(err.Error(), "was killed at build1; what it has done is not known"), "%v", err)
}

func TestAHostThatDoesNotLetIn(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]struct {
		kind  fail.Kind
		words string
	}{
		"refused": {fail.Unfit, "build1 is unreachable: it does not let you in"},
		"down":    {fail.TimedOut, "build1 is unreachable: it refuses connections"},
		"bare":    {fail.Unfit, "build1 is unreachable: it has no nbs-worker in the PATH"},
	} {
		f := newFar(t)
		f.become(what)
		_, err := f.Run(t.Context(), f.request(true, "say"), Streams{Out: &said{}, Err: &said{}})
		rig.Check(t, fail.KindOf(err) == want.kind && strings.HasPrefix(err.Error(), want.words), "%s: %v", what, err)
		rig.Check(t, len(fail.HintsOf(err)) == 1, "%s: hints %q", what, fail.HintsOf(err))
		rig.Equal(t, f.ran(), 0, "commands ran")
	}
}

// A host that was asked and cannot be reached again: the command says how to find out what became of it.
func TestAFateThatIsNotKnown(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	r := f.request(true, "two-parts")
	out := &said{at: "first\n", then: func() {
		f.become("refused")
		f.cut()
	}}
	_, err := f.Run(t.Context(), r, Streams{Out: out, Err: &said{}})
	rig.Check(t, err != nil && strings.Contains(err.Error(), "the command may go on there"), "%v", err)
	rig.Check(t, strings.Contains(strings.Join(fail.HintsOf(err), "\n"), "nbs-worker host result build1 "+r.ID), "%q", fail.HintsOf(err))
	f.open()
	job, err := hostJobs(f.state).Find(r.ID)
	rig.Must(t, err)
	rig.Must(t, job.AwaitEnd())
}

// What the client has of a stream takes no space at the host, is not sent again, and cannot be asked for again.
func TestAStreamDoesNotFillTheHost(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	r := f.request(false, "pour")
	out := &said{at: "poured\n", then: func() {
		spool := filepath.Join(f.state, "nbs-worker", "jobs", r.ID, "out")
		for space(t, spool) > 2*toldAfter {
			<-time.After(time.Millisecond)
		}
		f.cut()
		f.open()
	}}
	code, err := f.Run(t.Context(), r, Streams{Out: out, Err: &said{}})
	rig.Must(t, err)
	rig.Equal(t, code, 0, "its exit code")
	rig.Check(t, out.String() == poured+"poured\nlast\n", "%d bytes of %d", len(out.String()), len(poured)+len("poured\nlast\n"))
	_, err = f.Run(t.Context(), r, Streams{Out: &said{}, Err: &said{}})
	rig.Check(t, err != nil && strings.HasSuffix(err.Error(), "the output of request "+r.ID+" was read, and is gone"), "%v", err)
}

// A host knows from the beginning that its client says what it has read: what such a client does not read is bounded.
func TestAClientSaysThatItTells(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	look, change := f.request(false, "say"), f.request(true, "say")
	for r, kept := range map[*Request]string{&look: `{"out":0,"err":0}`, &change: ""} {
		_, err := f.Run(t.Context(), *r, Streams{Out: &said{}, Err: &said{}})
		rig.Must(t, err)
		text, _ := os.ReadFile(filepath.Join(f.state, "nbs-worker", "jobs", r.ID, "read.json"))
		rig.Equal(t, string(text), kept, "what is noted of its reader")
	}
}

// space returns how many bytes a file takes.
func space(t *testing.T, path string) int64 {
	t.Helper()
	var info syscall.Stat_t
	rig.Must(t, syscall.Stat(path, &info))
	return info.Blocks * 512
}
