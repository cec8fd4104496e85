// Package link asks a host to run nbs-worker, by the user's own ssh.
//
// A host is spoken to by one connection: "ssh DEST nbs-worker host serve", with frames on its stdin and stdout, and
// many requests at a time. A request is a command line for the project there, under an id. The host runs it as a
// process of its own (package jobs), so that a cut connection does not end it. [Link] connects again and asks what
// became of the same id: the host never runs it twice, and its output goes on at the byte that was missing.
package link

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/jobs"
)

// Request is a command line for a host, under an id: a UUID, to ask again what became of it.
type Request struct {
	ID string `json:"id"`

	jobs.Request

	Starts bool `json:"-"` // agents: a host that does not keep the limits is not asked
}

// NewRequest returns a request for the project of a host. keep: it changes something, so that it goes on without a reader.
func NewRequest(h host.Host, keep bool, args ...string) Request {
	return Request{ID: uuid.NewString(), Request: jobs.Request{Folder: h.Folder, Args: args, Keep: keep, As: h.Name, Room: h.Limits}}
}

// Starts reports whether a verb starts agents.
func Starts(verb string) bool {
	return slices.Contains([]string{"spawn", "fork", "up", "restart", "resume", "recover"}, verb)
}

// Streams are the stdin, stdout and stderr of a request. Stdin is read again from its beginning after a cut.
type Streams struct {
	In       io.ReadSeeker // nil: none
	Out, Err io.Writer
}

// Limits bound how long a host is waited for.
type Limits struct {
	Contact time.Duration // without any connection, after one was cut
	Parting time.Duration // for the end of a command that was interrupted
	Silence time.Duration // for any sign of life on a connection; 0: as usual
}

// Usual are the limits of a command that a person waits for.
var Usual = Limits{Contact: 30 * time.Second, Parting: 10 * time.Second}

// askAgain is how long a request is repeated after a cut. Later it is only asked what became of it, since a host forgets
// what it has done.
const askAgain = 12 * time.Hour

// Link is the way to a host. It connects when it is first used, and again after a cut.
type Link struct {
	Host   host.Host
	Limits Limits
	Log    io.Writer    // gets what ssh writes to stderr
	Tell   func(string) // is told what a request waits for when that takes long; nil: no one

	mu      sync.Mutex
	conn    *conn
	attempt *attempt // nil: it does not connect now
}

// Run has a request done and returns its exit code. A cancelled context interrupts the command there. Errors: those of
// an unreachable host, which say so if the fate of the request is not known; BadInput, Conflict from the host.
func (l *Link) Run(ctx context.Context, r Request, s Streams) (code int, err error) {
	return l.RunWithin(ctx, l.Limits, r, s)
}

// RunWithin is Run with limits of its own.
func (l *Link) RunWithin(ctx context.Context, limits Limits, r Request, s Streams) (code int, err error) {
	r.Input = s.In != nil
	x := newExchange(r, s)
	hurry, leave := hurried(ctx, limits.Parting)
	defer leave()
	arrived := Later(l.Tell, "waiting for "+l.Host.Name)
	defer arrived()
	var sent bool
	asked := time.Now().Round(0) // by the wall clock, which goes on while this machine sleeps
	for wait := newBackoff(limits.Contact); ; {
		within := hurry
		if !sent { // there is nothing to interrupt
			within = ctx
		}
		c, err := l.connected(within)
		isCut := err == nil
		if isCut && !sent && r.Starts && r.Room != (agent.Room{}) && !c.hi.Limits {
			return 0, fail.Errorf(fail.Unfit, "%s has nbs-worker %s, which does not say that it keeps its limits of hosts.yaml", l.Host.Name, human.Legible(c.hi.Version)).
				Hint("nbs-worker host add %s %s --install", l.Host.Name, l.Host.Destination)
		}
		if isCut {
			arrived()
			if time.Now().Round(0).Sub(asked) > askAgain {
				x.Args = nil
			}
			sent = true
			had, began := x.OutAt+x.ErrAt, time.Now()
			var a answer
			if a, err = c.do(ctx, hurry, x); err == nil {
				return l.result(a, x.printed)
			}
			if hurry.Err() == nil && x.OutAt+x.ErrAt > had || time.Since(began)-c.wasted() > limits.Contact {
				wait.reached()
			}
		}
		if !sent {
			return 0, err
		}
		if hurry.Err() != nil || !wait.again(hurry, err) {
			return 0, l.unknown(r, err)
		}
		if isCut && l.Tell != nil {
			l.Tell("the connection to " + l.Host.Name + " was cut; connecting again")
		}
	}
}

// Later tells a text, unless it is stopped within two seconds. When stop has returned, nothing is told.
func Later(tell func(string), text string) (stop func()) {
	if tell == nil {
		return func() {}
	}
	const long = 2 * time.Second
	stopped, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-stopped:
		case <-time.After(long):
			tell(text)
		}
	}()
	return sync.OnceFunc(func() { close(stopped); <-over })
}

// hurried returns a context that ends some time after another.
func hurried(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	hurry, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(after, func() { leave(context.Cause(ctx)) })
	})
	return hurry, func() { stop(); leave(nil) }
}

// result returns the exit code of an answer. printed is why what came could not be written.
func (l *Link) result(a answer, printed error) (int, error) {
	switch {
	case printed != nil && a.Code == 0:
		return 0, fail.Errorf(fail.Failed, "print what %s says: %w", l.Host.Name, printed)
	case a.Refused != "":
		return 0, fail.Errorf(fail.Kind(a.Code), "%s refuses: %s", l.Host.Name, a.Refused)
	case a.Killed:
		return 0, fail.Errorf(fail.Failed, "the command was killed at %s; what it has done is not known", l.Host.Name).
			Hint("nbs-worker --host %s list", l.Host.Name)
	default:
		return a.Code, nil
	}
}

// unknown adds to an error that the host has been asked, and does not say what became of it.
func (l *Link) unknown(r Request, err error) error {
	if !r.Keep {
		return err
	}
	asked := fail.Errorf(fail.KindOf(err), "%w; the command may go on there", err)
	if errors.Is(err, context.Canceled) || fail.KindOf(err) == fail.Interrupted {
		asked = fail.Errorf(fail.Interrupted, "the command may go on at %s", l.Host.Name)
	}
	return asked.Hint("to see what became of it: nbs-worker host result %s %s", l.Host.Name, r.ID)
}

// backoff waits between attempts to connect.
type backoff struct {
	limit, pause time.Duration
	since        time.Time // no connection
}

func newBackoff(limit time.Duration) *backoff { return &backoff{limit: limit, since: time.Now()} }

// reached begins a new count.
func (b *backoff) reached() { b.pause, b.since = 0, time.Time{} }

// again waits, and returns false if it should not be tried again: the limit is over, or the reason does not pass.
func (b *backoff) again(ctx context.Context, err error) bool {
	const first, last = 100 * time.Millisecond, 5 * time.Second
	if b.since.IsZero() {
		b.since = time.Now()
	}
	if un, is := errors.AsType[*Unreachable](err); is && !un.Reason.Passes() || time.Since(b.since) > b.limit {
		return false
	}
	b.pause = min(max(2*b.pause, first), last)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(b.pause):
		return true
	}
}
