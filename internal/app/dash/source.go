package dash

import (
	"context"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/subscribe"
)

// Team is the source of the agents of some projects.
type Team struct {
	projects []*project
	signs    chan sign
	closed   chan struct{}
	taking   sync.Mutex // one look at a time
	looked   time.Time  // when the last look ended
	measured measured
}

// sign is one of a project's subscription; open is false when that has failed.
type sign struct {
	of   *project
	sign subscribe.Sign
	open bool
}

// Words put facts in words, as the commands do.
type Words struct {
	Limits func(*agent.Limits, time.Time) string
	Pull   func(*agent.PullRequest) string
}

// Follow returns the source of projects, which the caller closes. Errors: Unfit at a limit of the kernel.
func Follow(inspectors []*inspect.Inspector, bands agent.Bands, words Words) (*Team, error) {
	t := &Team{signs: make(chan sign), closed: make(chan struct{})}
	for _, inspector := range inspectors {
		p, err := follow(inspector, bands, words)
		if err != nil {
			t.Close()
			return nil, err
		}
		t.projects = append(t.projects, p)
		go t.forward(p)
	}
	return t, nil
}

// forward hands on the signs of a project.
func (t *Team) forward(p *project) {
	for {
		one, open := <-p.signs.C()
		select {
		case t.signs <- sign{p, one, open}:
		case <-t.closed:
			return
		}
		if !open {
			return
		}
	}
}

// Close ends the subscriptions.
func (t *Team) Close() {
	t.taking.Lock()
	defer t.taking.Unlock()
	close(t.closed)
	for _, p := range t.projects {
		p.close()
	}
}

// Await implements [Source]. Changes that follow each other closely are one; a look asks tmux, which costs most.
func (t *Team) Await(ctx context.Context) error {
	const together, pause = 100 * time.Millisecond, 700 * time.Millisecond
	var over <-chan time.Time
	for {
		select {
		case s := <-t.signs:
			if !s.open {
				return s.of.signs.Err()
			}
			s.of.changed(s.sign)
			if over == nil {
				over = time.After(max(together, pause-time.Since(t.looked)))
			}
		case <-over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Look implements [Source].
func (t *Team) Look(ctx context.Context) (Sight, error) {
	t.taking.Lock()
	defer t.taking.Unlock()
	defer func() { t.looked = time.Now() }()
	var sight Sight
	for _, p := range t.projects {
		switch err := p.look(ctx); {
		case err == nil:
			p.addTo(&sight)
		case len(t.projects) == 1:
			return Sight{}, err
		default:
			sight.Trouble = harmless(p.path() + ": " + err.Error())
		}
	}
	sight.Journal = lastOf(sight.Journal)
	return sight, nil
}

// Again implements [Source].
func (t *Team) Again() {}

// Select implements [Source]. The events of all agents are read.
func (t *Team) Select(Who) {}

// Do implements [Source].
func (t *Team) Do(context.Context, Who, ...string) (said string, code int, err error) {
	return "", 0, fail.Errorf(fail.BadInput, "its verbs run here")
}

// find returns the project of an agent; nil for an unknown one.
func (t *Team) find(who Who) *project {
	for _, p := range t.projects {
		if p.path() == who.Project {
			return p
		}
	}
	return nil
}

// Screen implements [Source].
func (t *Team) Screen(ctx context.Context, who Who, isThere bool) (string, error) {
	return t.shown(ctx, who, isThere, (*project).screen)
}

// Conversation implements [Source].
func (t *Team) Conversation(ctx context.Context, who Who, isThere bool) (string, error) {
	return t.shown(ctx, who, isThere, (*project).conversation)
}

// shown reads what is shown of an agent, and notes the look of a user who is there.
func (t *Team) shown(ctx context.Context, who Who, isThere bool, read func(*project, context.Context, *inspect.Row) (string, error)) (string, error) {
	p := t.find(who)
	if p == nil {
		return "", fail.Errorf(fail.NotFound, "its project is gone")
	}
	t.taking.Lock()
	row, isSeen := p.last[who.Handle], p.isSeen(who.Handle)
	t.taking.Unlock()
	if row == nil {
		return "", fail.Errorf(fail.NotFound, "it is gone")
	}
	at := p.inspector.Project.Now()
	text, err := read(p, ctx, row)
	if err == nil && isThere && !isSeen {
		err = p.inspector.Project.Store.Seen().Mark(ctx, at, who.Handle)
	}
	return strings.TrimRight(text, "\n "), err
}
