package dash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Fleet is the source of the agents of this machine and of hosts.
type Fleet struct {
	*Team

	feeds   []*feed
	changed chan struct{}
	leave   context.CancelFunc
	running sync.WaitGroup

	reading sync.Mutex
	texts   map[peeked]string
}

// peeked is a preview of an agent.
type peeked struct {
	who     Who
	preview Preview
}

// FollowHosts returns the source of a team and of hosts. The caller closes it, which closes the team too.
func FollowHosts(ctx context.Context, team *Team, hosts []Host) *Fleet {
	ctx, leave := context.WithCancel(ctx)
	f := &Fleet{Team: team, changed: make(chan struct{}, 1), leave: leave, texts: map[peeked]string{}}
	for _, h := range hosts {
		feed := newFeed(h, f.changed)
		f.feeds = append(f.feeds, feed)
		f.running.Go(func() {
			defer h.Far.Close()
			feed.run(ctx)
		})
	}
	return f
}

// Close ends the connections.
func (f *Fleet) Close() {
	f.leave()
	f.running.Wait()
	f.Team.Close()
}

// Look implements [Source].
func (f *Fleet) Look(ctx context.Context) (Sight, error) {
	sight, err := f.Team.Look(ctx)
	for _, feed := range f.feeds {
		feed.addTo(&sight)
	}
	return sight, err
}

// Await implements [Source].
func (f *Fleet) Await(ctx context.Context) error {
	here, leave := context.WithCancel(ctx)
	defer leave()
	came := make(chan error, 1)
	go func() { came <- f.Team.Await(here) }()
	select {
	case err := <-came:
		return err
	case <-f.changed:
	}
	const together = 100 * time.Millisecond
	select {
	case err := <-came:
		return err
	case <-time.After(together):
	}
	leave()
	if err := <-came; !errors.Is(err, context.Canceled) {
		return err
	}
	return ctx.Err()
}

// Again implements [Source].
func (f *Fleet) Again() {
	for _, feed := range f.feeds {
		feed.retry()
	}
}

// Measure implements [Source]. Hosts are measured beside it, and their rows say what came of it.
func (f *Fleet) Measure() map[Who]Usage {
	for _, feed := range f.feeds {
		feed.usage.want(time.Now())
	}
	return f.Team.Measure()
}

// Select implements [Source].
func (f *Fleet) Select(who Who) {
	for _, feed := range f.feeds {
		if who.Host == feed.Name {
			feed.events.turnTo(who)
		} else {
			feed.events.turnTo(Who{})
		}
	}
}

// Screen implements [Source].
func (f *Fleet) Screen(ctx context.Context, who Who, isThere bool) (string, error) {
	if who.Host == "" {
		return f.Team.Screen(ctx, who, isThere)
	}
	return f.peek(ctx, peeked{who, ScreenPreview}, isThere, human.Legible, "screen", string(who.Handle))
}

// Conversation implements [Source].
func (f *Fleet) Conversation(ctx context.Context, who Who, isThere bool) (string, error) {
	if who.Host == "" {
		return f.Team.Conversation(ctx, who, isThere)
	}
	return f.peek(ctx, peeked{who, ConversationPreview}, isThere, conversation, "logs", string(who.Handle), "--json", "--last=20")
}

// peek returns what a command line shows of an agent. That counts as a look there: a user who is not there sees what was
// shown last.
func (f *Fleet) peek(ctx context.Context, of peeked, isThere bool, words func(string) string, args ...string) (string, error) {
	f.reading.Lock()
	last, is := f.texts[of]
	f.reading.Unlock()
	if is && !isThere {
		return last, nil
	}
	feed, err := f.feedOf(of.who)
	if err != nil {
		return "", err
	}
	text, err := feed.ask(ctx, of.who.there(args)...)
	if err != nil {
		return "", err
	}
	shown := strings.TrimRight(words(string(text)), "\n ")
	f.reading.Lock()
	defer f.reading.Unlock()
	f.texts[of] = shown
	return shown, nil
}

// Do implements [Source].
func (f *Fleet) Do(ctx context.Context, who Who, args ...string) (said string, code int, err error) {
	feed, err := f.feedOf(who)
	if err != nil {
		return "", 0, err
	}
	return feed.Far.Do(ctx, who.there(args)...)
}

// feedOf returns the feed of an agent's host.
func (f *Fleet) feedOf(who Who) (*feed, error) {
	for _, feed := range f.feeds {
		if feed.Name == who.Host {
			return feed, nil
		}
	}
	return nil, fail.Errorf(fail.NotFound, "its host is gone")
}

// conversation puts in words what logs prints.
func conversation(printed string) string {
	var text strings.Builder
	for line := range bytes.Lines([]byte(printed)) {
		var said wire.Said
		if json.Unmarshal(line, &said) == nil && said.Text != "" {
			fmt.Fprintf(&text, "%s: %s\n", human.Legible(said.Who), human.Legible(strings.TrimSpace(said.Text)))
		}
	}
	return text.String()
}
