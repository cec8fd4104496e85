package dash

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/app/wire"
)

// farEvents are the last events of the agent at a host that the user has selected. One command there follows them.
type farEvents struct {
	mu     sync.Mutex
	of     Who           // zero: none is selected there
	past   []event       // of that agent
	turned chan struct{} // another one is selected
}

// turnTo notes which agent is selected.
func (e *farEvents) turnTo(who Who) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if who == e.of {
		return
	}
	e.of, e.past = who, nil
	select {
	case e.turned <- struct{}{}:
	default:
	}
}

// selected returns the agent, and its events.
func (e *farEvents) selected() (of Who, past []event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.of, slices.Clone(e.past)
}

// take takes a line of events --follow. It ignores one that cannot be read.
func (e *farEvents) take(of Who, line []byte) {
	var one wire.Event
	if json.Unmarshal(line, &one) != nil || one.At == nil {
		return
	}
	text := harmless(strings.TrimSpace(one.Event + " " + string(one.Handle) + "  " + one.Detail))
	e.mu.Lock()
	defer e.mu.Unlock()
	if of != e.of {
		return
	}
	e.past = append(e.past, event{*one.At, text})
	e.past = e.past[max(0, len(e.past)-journalLines):]
}

// begin forgets what is printed again.
func (e *farEvents) begin(of Who) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if of == e.of {
		e.past = nil
	}
}

// readEvents follows the events of the selected agent, while the host answers.
func (f *feed) readEvents(ctx context.Context) {
	for {
		of, _ := f.events.selected()
		reads, leave := context.WithCancel(ctx)
		over := make(chan struct{})
		go func() {
			defer close(over)
			if of != (Who{}) {
				f.readEventsOf(reads, leave, of)
			}
		}()
		select {
		case <-ctx.Done():
		case <-f.events.turned:
		}
		leave()
		<-over
		if ctx.Err() != nil {
			return
		}
	}
}

// readEventsOf follows the events of an agent that stays selected for a moment.
func (f *feed) readEventsOf(ctx context.Context, leave func(), of Who) {
	const moment = 300 * time.Millisecond
	select {
	case <-ctx.Done():
		return
	case <-time.After(moment):
	}
	args := of.there([]string{"events", string(of.Handle), "--json", "--follow", "--last=3"})
	f.events.begin(of)
	stream := &lines{full: leave, take: func(line []byte, _ bool) {
		f.events.take(of, line)
		f.tell()
	}}
	_, _ = f.Far.Run(ctx, stream, io.Discard, args...) // the rows say that the host is lost
}
