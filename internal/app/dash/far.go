package dash

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/store/views"
)

// Far is the way to a host: it runs command lines of this program there, many at a time.
type Far interface {
	// Run runs a command line that shows something. Errors: those of an unreachable host.
	Run(ctx context.Context, out, errOut io.Writer, args ...string) (code int, err error)
	// Do runs a command line that changes something: once, whatever becomes of the connection. said is what it prints.
	Do(ctx context.Context, args ...string) (said string, code int, err error)
	// Heard returns when the host gave the last sign of life.
	Heard() time.Time
	Close()
}

// ByLink is the way of package link.
type ByLink struct{ *link.Link }

// Run implements [Far].
func (l ByLink) Run(ctx context.Context, out, errOut io.Writer, args ...string) (code int, err error) {
	return l.Link.Run(ctx, link.NewRequest(l.Host, false, args...), link.Streams{Out: out, Err: errOut})
}

// Do implements [Far]. A person waits for it, as for any command.
func (l ByLink) Do(ctx context.Context, args ...string) (said string, code int, err error) {
	var text bytes.Buffer
	r := link.NewRequest(l.Host, true, args...)
	r.Starts = link.Starts(args[0])
	code, err = l.RunWithin(ctx, link.Usual, r, link.Streams{Out: &text, Err: &text})
	return text.String(), code, err
}

// Host is a host whose agents are shown.
type Host struct {
	Name        string
	Far         Far
	Views       views.Drawer // what it has shown last
	AllProjects bool
	Words       Words
}

// feed has the rows of a host: they come as a stream, for as long as the host answers.
type feed struct {
	Host

	changed chan<- struct{} // the rows are others now
	again   chan struct{}   // the user does not want to wait
	due     chan struct{}   // the requests are to be read, or all rows
	farRows

	events farEvents
	usage  farUsage
}

func newFeed(h Host, changed chan<- struct{}) *feed {
	f := &feed{Host: h, changed: changed, again: make(chan struct{}, 1), due: make(chan struct{}, 1)}
	f.farRows = newFarRows(h.Name, h.Words)
	f.events.turned, f.usage.due = make(chan struct{}, 1), make(chan struct{}, 1)
	last := h.Views.Last(f.list())
	_ = f.replace([]byte(last.Text), last.At) // or it has shown none
	f.trouble, f.coming = "connecting", true
	return f
}

// list is the command line that shows all rows.
func (f *feed) list(flags ...string) []string {
	if f.AllProjects {
		flags = append(flags, "--all-projects")
	}
	return append([]string{"list", "--json"}, flags...)
}

// run keeps the rows true until the context ends.
func (f *feed) run(ctx context.Context) {
	for pause := time.Duration(0); ; {
		answered, err := f.follow(ctx)
		_ = f.Views.Keep(f.list(), f.view()) // the next start has no older ones then
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errFull):
			continue
		case answered:
			pause = 0
		}
		pause = longer(pause)
		f.lose(err)
		var over <-chan time.Time
		if !byHand(err) {
			over = time.After(pause)
		}
		f.tell()
		select {
		case <-ctx.Done():
			return
		case <-f.again:
			pause = 0
		case <-over:
		}
	}
}

// longer returns the pause after one more failure.
func longer(pause time.Duration) time.Duration {
	const first, last = time.Second, time.Minute
	return min(max(2*pause, first), last)
}

// byHand reports whether a person has to do something before the host is asked again. A name that is not known may be
// known soon: this machine may have no network yet.
func byHand(err error) bool {
	if un, is := errors.AsType[*link.Unreachable](err); is {
		return !un.Reason.Passes() && un.Reason != link.Unknown
	}
	return fail.KindOf(err) == fail.Unfit
}

// errFull ends a stream when the host has kept much of its output. Another stream begins then.
var errFull = errors.New("the stream is long enough")

// follow takes the rows of the host for as long as it answers, and returns whether it did.
func (f *feed) follow(ctx context.Context) (answered bool, err error) {
	ctx, leave := context.WithCancelCause(ctx)
	var reads sync.WaitGroup
	defer reads.Wait()
	defer leave(nil)
	if err := f.readAll(ctx); err != nil {
		return false, err
	}
	f.tell()
	reads.Go(func() { f.read(ctx) })
	reads.Go(func() { f.readEvents(ctx) })
	reads.Go(func() { f.measure(ctx) })
	var said bytes.Buffer
	stream := &lines{take: f.line, full: func() { leave(errFull) }}
	code, err := f.Far.Run(ctx, stream, &said, f.list("--watch")...)
	if errors.Is(context.Cause(ctx), errFull) {
		return true, errFull
	}
	if err == nil {
		err = refused(code, said.Bytes())
	}
	return true, err
}

// line takes a line of the stream. The first one says that the stream has begun: an agent that was dismissed before has
// no line.
func (f *feed) line(text []byte, first bool) {
	f.take(text, time.Now())
	if first {
		f.wantAll()
	}
	select {
	case f.due <- struct{}{}:
	default:
	}
	f.tell()
}

// read reads what the stream does not have, when it is due.
func (f *feed) read(ctx context.Context) {
	clock := time.NewTicker(ageing)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-clock.C:
			if f.stillTrue(f.Far.Heard(), now) {
				f.tell()
			}
		case <-f.due:
			if f.wantsAll() {
				_ = f.readAll(ctx) // the stream ends too if the host is lost
			} else {
				_ = f.readRequests(ctx)
			}
			f.tell()
		}
	}
}

// readAll reads all rows, and what they ask.
func (f *feed) readAll(ctx context.Context) error {
	f.begin()
	defer f.end()
	text, err := f.ask(ctx, f.list()...)
	if err == nil {
		err = f.replace(text, time.Now())
	}
	if err != nil {
		return err
	}
	return f.readRequests(ctx)
}

// readRequests reads what the waiting agents ask.
func (f *feed) readRequests(ctx context.Context) error {
	for _, project := range f.waiting() {
		args := []string{"requests", "--json"}
		if project != "" {
			args = append(args, "--root="+project)
		}
		text, err := f.ask(ctx, args...)
		if err == nil {
			err = f.asked(project, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ask returns what a command line prints at the host.
func (f *feed) ask(ctx context.Context, args ...string) ([]byte, error) {
	const limit = 30 * time.Second
	ctx, leave := context.WithTimeout(ctx, limit)
	defer leave()
	var out, said bytes.Buffer
	code, err := f.Far.Run(ctx, &out, &said, args...)
	if err == nil && code != 0 && code != int(fail.Partial) {
		err = refused(code, said.Bytes())
	}
	return out.Bytes(), err
}

// refused returns the error of a command line that has ended at a host that answers.
func refused(code int, said []byte) error {
	return errors.New(link.ReadComplaint(code, string(said)).What)
}

// addTo adds the host to a sight of all.
func (f *feed) addTo(sight *Sight) {
	rows, place := f.shown()
	for i := range rows {
		if used, is := f.usage.of(rows[i].Who); is {
			rows[i].Usage = &used
		}
	}
	place.Selected, place.Journal = f.events.selected()
	sight.Rows, sight.Places = append(sight.Rows, rows...), append(sight.Places, place)
}

func (f *feed) tell() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// retry asks a host again that does not answer.
func (f *feed) retry() {
	if _, place := f.shown(); place.Trouble == "" {
		return
	}
	select {
	case f.again <- struct{}{}:
	default:
	}
}
