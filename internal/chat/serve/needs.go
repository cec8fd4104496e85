package serve

import (
	"context"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/attention"
)

// Needs tells chats which agents need a person: a post for each request and for each other need. A post says later what
// became of it, also if that happened elsewhere.
//
//   - A need is told once, over restarts too: its note is durable before its post is sent, and has the number of the
//     message after that.
//   - A need that a person has seen is not told. The post of a request stays open for as long as it can be answered.
type Needs struct {
	Chats []string // keys
	Notes *deliveries.Drawer

	Look         func(ctx context.Context) (*Needed, error)
	Fate         func(request string) (requests.Fate, requests.Answer)
	Post, Change func(ctx context.Context, key, id string, p bridge.Post) error
	Now          func() time.Time
	Said         func(format string, args ...any) // for the operator

	posts map[string]*post // that may change, by the id of their note
	asked map[string]asked // the last known request of each agent, by its key
}

// Needed is what a look at the agents shows.
type Needed struct {
	Agents   []AgentNeed
	Requests []requests.Request // that are open, oldest first
}

// AgentNeed is an agent, and what it needs.
type AgentNeed struct {
	Handle  agent.Handle
	Need    *attention.Need // nil: nothing
	Looked  time.Time       // when a person last looked at the agent; zero: never
	Unknown bool            // its state is unknown: nothing follows from that it needs nothing
	State   string          // in a word
}

// of returns an agent; nil if it is gone.
func (n *Needed) of(handle string) *AgentNeed {
	i := slices.IndexFunc(n.Agents, func(a AgentNeed) bool { return a.Handle.Same(agent.Handle(handle)) })
	if i < 0 {
		return nil
	}
	return &n.Agents[i]
}

func (n *Needed) asks(handle agent.Handle) bool {
	return slices.ContainsFunc(n.Requests, func(r requests.Request) bool { return r.Handle.Same(handle) })
}

// asked is a request that came.
type asked struct {
	id string
	at time.Time
}

// post is a need that is told, or is about to be.
type post struct {
	*deliveries.Post

	key, id string
	sent    bool
	choices []bridge.Choice
	gone    time.Time // when its request was found gone while the agent still waited
}

// Pauses of a telling.
const (
	lookPause = time.Second      // between two looks: agents that work change all the time
	settles   = 3 * time.Second  // a wait that is no request is told when it has lasted so long: a request may follow
	together  = 2 * time.Second  // a request and the agent's state may come so far apart
	lingers   = 15 * time.Second // a dialog may stay so long after its answer; then the wait is for another one
)

// Run tells until the context ends. kicks wakes it when something may have changed.
func (n *Needs) Run(ctx context.Context, kicks <-chan struct{}) error {
	if err := n.takeUp(); err != nil {
		n.Said("needs of agents: %v", err) // those that can be read are there
	}
	for {
		again := n.tell(ctx)
		if clock.Sleep(ctx, lookPause) != nil {
			return nil //nolint:nilerr // it ends with the context
		}
		var timer <-chan time.Time
		if again > 0 {
			timer = time.After(again)
		}
		select {
		case _, goesOn := <-kicks:
			if !goesOn {
				return nil
			}
		case <-timer:
		case <-ctx.Done():
			return nil
		}
	}
}

// takeUp takes the posts of an earlier server.
func (n *Needs) takeUp() error {
	n.posts, n.asked = map[string]*post{}, map[string]asked{}
	open, err := n.Notes.OpenPosts()
	for i := range open {
		p := &post{Post: open[i].Post, key: open[i].Key, id: open[i].ID, sent: open[i].Growing != ""}
		n.posts[p.id] = p
		if p.Request != "" {
			n.hasAsked(agent.Handle(p.Handle), asked{p.Request, p.Since})
		}
	}
	return err
}

func (n *Needs) hasAsked(handle agent.Handle, a asked) {
	if a.at.After(n.asked[handle.Key()].at) {
		n.asked[handle.Key()] = a
	}
}

// tell looks once, and tells what has changed. It returns after which time to look again; 0: at the next change.
func (n *Needs) tell(ctx context.Context) (again time.Duration) {
	looked := n.Now()
	now, err := n.Look(ctx)
	if err != nil {
		if ctx.Err() == nil {
			n.Said("needs of agents: %v", err)
		}
		return rescan
	}
	for i := range now.Requests {
		n.hasAsked(now.Requests[i].Handle, asked{now.Requests[i].ID, now.Requests[i].At})
	}
	for id, p := range n.posts {
		outcome, later := n.became(p, now)
		if again = sooner(again, later); outcome != "" {
			n.end(ctx, id, outcome)
		}
	}
	for _, key := range n.Chats {
		wanted, later := n.wanted(key, now)
		again = sooner(again, later)
		for _, p := range wanted {
			switch {
			case ctx.Err() != nil:
				return 0
			case n.Now().Sub(looked) > rescan: // a chat system was away: what there was to tell may be over
				return time.Nanosecond
			}
			if n.send(ctx, p) != nil {
				again = sooner(again, rescan)
			}
		}
	}
	return again
}

func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// wanted returns what a chat is to be told now, and after which time more may be.
func (n *Needs) wanted(key string, now *Needed) (wanted []*post, later time.Duration) {
	add := func(p *post) {
		if known := n.posts[p.id]; known != nil {
			if !known.sent { // by an earlier server
				p.Post = known.Post
				wanted = append(wanted, p)
			}
			return
		}
		if note, there, err := n.Notes.Get(p.id); err == nil && (!there || note.State != deliveries.Over) {
			wanted = append(wanted, p)
		}
	}
	for i := range now.Requests {
		r := &now.Requests[i]
		if p := n.requestPost(key, r); n.posts[p.id] != nil || !isSeen(r, now.of(string(r.Handle))) {
			add(p)
		}
	}
	for i := range now.Agents {
		a := &now.Agents[i]
		known := n.known(key, a)
		switch {
		case known != nil && !known.sent: // by an earlier server
			wanted = append(wanted, known)
			continue
		case known != nil, a.Need == nil, a.Need.Seen:
			continue
		}
		if is, until := n.isOfRequest(a, now); is {
			later = sooner(later, until)
			continue
		}
		if age := n.Now().Sub(a.Need.Since); a.Need.Reason == attention.Waits && age < settles {
			later = sooner(later, settles-max(0, age))
			continue
		}
		add(n.needPost(key, a))
	}
	return wanted, later
}

// isSeen reports whether a person has seen what an agent asks.
func isSeen(r *requests.Request, a *AgentNeed) bool {
	return a != nil && (a.Need != nil && a.Need.Reason == attention.Waits && a.Need.Seen || !a.Looked.IsZero() && !a.Looked.Before(r.At))
}

// isOfRequest reports whether what an agent needs is the answer to a request, whose post says it; and for how long, if that
// is known. An agent that still waits when its answer was taken waits for another dialog, such as a subagent's.
func (n *Needs) isOfRequest(a *AgentNeed, now *Needed) (is bool, until time.Duration) {
	last := n.asked[a.Handle.Key()]
	switch {
	case a.Need.Reason != attention.Waits:
		return false, 0
	case now.asks(a.Handle):
		return true, 0
	case last.at.Before(a.Need.Since.Add(-together)):
		return false, 0
	}
	fate, given := n.Fate(last.id)
	if fate != requests.Taken {
		return true, 0
	}
	until = lingers - n.Now().Sub(given.At)
	return until > 0, max(0, until)
}

// known returns the open post of a chat about the present need of an agent; nil if the chat has none.
func (n *Needs) known(key string, a *AgentNeed) *post {
	for _, p := range n.posts {
		if p.key == key && p.isOf(a) {
			return p
		}
	}
	return nil
}

// isOf reports whether a post that is no request's is about the present need of an agent. Since when an agent is in its
// state is known to a second or so; how short of context it is changes all the time.
func (p *post) isOf(a *AgentNeed) bool {
	if p.Request != "" || a.Need == nil || !a.Handle.Same(agent.Handle(p.Handle)) || p.Reason != string(a.Need.Reason) {
		return false
	}
	return a.Need.Reason == attention.Short || a.Need.Since.Sub(p.Since).Abs() <= together
}

// send tells a need. Errors: it could not be noted, and is not told: what is not noted would be told again.
func (n *Needs) send(ctx context.Context, p *post) error {
	err := n.Notes.Update(p.id, func(note *deliveries.Note, there bool) {
		if !there {
			*note = deliveries.Note{ID: p.id, Key: p.key, State: deliveries.Waits, Post: p.Post, At: n.Now().UTC()}
		}
	})
	if err != nil {
		n.Said("%s: the need of %s is not told yet: %v", p.key, p.Handle, err)
		return err
	}
	n.posts[p.id] = p
	shown := p.shown("")
	shown.Choices = p.choices
	switch err := n.Post(ctx, p.key, p.id, shown); {
	case err == nil:
		p.sent = true
	case ctx.Err() == nil:
		n.Said("%s: the need of %s was not told: %v", p.key, p.Handle, err)
		n.over(p.id, err.Error())
	}
	return nil
}

// end says in a post what became of its need.
func (n *Needs) end(ctx context.Context, id, outcome string) {
	p := n.posts[id]
	err := n.Change(ctx, p.key, id, p.shown(outcome))
	switch {
	case err != nil && ctx.Err() != nil:
		return
	case err != nil:
		n.Said("%s: what became of the need of %s was not told: %v", p.key, p.Handle, err)
		n.over(id, err.Error())
	default:
		n.over(id, "")
	}
}

// over ends a post. If that cannot be noted, the next server changes the post once more, which changes nothing.
func (n *Needs) over(id, untold string) {
	delete(n.posts, id)
	err := n.Notes.Change(id, func(note *deliveries.Note) {
		note.State, note.Untold, note.At = deliveries.Over, untold, n.Now().UTC()
	})
	if err != nil {
		n.Said("note that a need was told: %v", err)
	}
}

// What the id of a post begins with: a request's, or that of another need.
const (
	requestWord = "request"
	needWord    = "need"
)

func idOf(parts ...string) string { return strings.Join(parts, ":") }
