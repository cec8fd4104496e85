package matrix

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"nbs-worker/internal/chat/bridge"
)

// batch is the answer to a sync.
type batch struct {
	Next  string `json:"next_batch"`
	Rooms struct {
		Join   map[string]joined  `json:"join"`
		Invite map[string]invited `json:"invite"`
		Leave  map[string]any     `json:"leave"`
	} `json:"rooms"`

	since     string
	forgotten time.Time // what was written before may have been answered, and that is not known any more; zero: it is known of all
}

type joined struct {
	State struct {
		Events []event `json:"events"`
	} `json:"state"`
	Timeline timeline `json:"timeline"`

	first    map[string]string // its members before the timeline
	concerns bool              // an event of it may have to be taken
}

type timeline struct {
	Events  []event `json:"events"`
	Limited bool    `json:"limited"` // there are more, before them
	Before  string  `json:"prev_batch"`
}

type invited struct {
	State struct {
		Events []event `json:"events"`
	} `json:"invite_state"`
}

// invite adds an invitation.
func (b *batch) invite(id string, e event) {
	if b.Rooms.Invite == nil {
		b.Rooms.Invite = map[string]invited{}
	}
	var i invited
	i.State.Events = []event{e}
	b.Rooms.Invite[id] = i
}

// wanted is the filter of a sync.
const wanted = `{"presence":{"not_types":["*"]},"account_data":{"not_types":["*"]},"room":{"ephemeral":{"not_types":["*"]},"account_data":{"not_types":["*"]},"timeline":{"limit":50}}}`

// patience is the time limit of a request, and of a sync in addition to the homeserver's wait for events.
const patience = 30 * time.Second

// sync asks for the events behind a place. The first sync since the start has the state of all rooms too.
func (s *System) sync(ctx context.Context, since string, wait time.Duration) (*batch, error) {
	query := url.Values{"filter": {wanted}, "timeout": {strconv.FormatInt(wait.Milliseconds(), 10)}}
	if since != "" {
		query.Set("since", since)
	}
	if s.since == "" {
		query.Set("full_state", "true")
	}
	ctx, end := context.WithTimeout(ctx, wait+patience)
	defer end()
	got := &batch{since: since}
	err := s.call(ctx, http.MethodGet, v3+"sync?"+query.Encode(), nil, got)
	return got, err
}

// Next implements [bridge.System].
func (s *System) Next(ctx context.Context) (updates []bridge.Update, err error) {
	if s.coming == nil {
		if s.coming, err = s.next(ctx); err != nil {
			return nil, err
		}
	}
	for _, id := range order(s.coming.Rooms.Invite) {
		s.answerInvitation(ctx, id, s.coming.Rooms.Invite[id].State.Events)
	}
	s.coming.Rooms.Invite = nil
	for _, id := range order(s.coming.Rooms.Join) {
		of, err := s.updates(ctx, id, s.coming.Rooms.Join[id])
		if err != nil {
			return nil, err
		}
		updates = append(updates, of...)
	}
	done := s.acks.add(s.coming.Next, len(updates))
	for i := range updates {
		updates[i].Done = done[i]
	}
	s.coming, s.failed = nil, 0
	return updates, nil
}

// next asks for the next events, and takes up what they change in the rooms.
func (s *System) next(ctx context.Context) (*batch, error) {
	got, err := s.sync(ctx, s.since, s.Poll)
	if err != nil {
		return nil, err
	}
	s.since = got.Next
	s.learn(got)
	return got, nil
}

func order[T any](rooms map[string]T) []string {
	ids := make([]string, 0, len(rooms))
	for id := range rooms {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// updates returns the updates of a room.
func (s *System) updates(ctx context.Context, id string, of joined) (updates []bridge.Update, err error) {
	t, members := of.Timeline, maps.Clone(of.first)
	events := t.Events
	if t.Limited && of.concerns && s.arrival(events) < 0 {
		since := s.coming.since
		if slices.ContainsFunc(events, s.accepts) { // the invitation may have come before that
			since = ""
		}
		before, err := s.gap(ctx, id, t.Before, since)
		if err != nil {
			return nil, err
		}
		goBack(members, before)
		events = append(before, events...)
	}
	arrived := s.arrival(events)
	for i, e := range events {
		goOn(members, &e)
		if i <= arrived {
			continue
		}
		u, err := s.update(ctx, id, s.owner(members), &e)
		if err != nil {
			return nil, err
		}
		if u != nil {
			updates = append(updates, *u)
		}
	}
	return updates, nil
}

// arrival returns the place of the event that brought the bot into a room: its invitation, or its joining without one; -1
// if it came before these events.
func (s *System) arrival(events []event) (at int) {
	at = -1
	for i := range events {
		now, before := s.membership(&events[i])
		if (now == "join" || now == "invite") && before != "join" && before != "invite" { // otherwise it has a new name, or accepts
			at = i
		}
	}
	return at
}

// accepts reports whether the bot accepts an invitation with an event.
func (s *System) accepts(e event) bool {
	now, before := s.membership(&e)
	return now == "join" && before == "invite"
}

// membership returns what the bot is in a room with an event, and what it was before; "" if the event does not say.
func (s *System) membership(e *event) (now, before string) {
	if e.Type != typeMember || e.Key == nil || *e.Key != s.me {
		return "", ""
	}
	return e.Content.Membership, e.Unsigned.Before.Membership
}

// gap returns the events of a room between two places, oldest first, that a sync has left out. It ends at the arrival of
// the bot.
func (s *System) gap(ctx context.Context, id, from, since string) (events []event, err error) {
	const pages, onPage = 100, "100"
	for range pages {
		query := url.Values{"dir": {"b"}, "limit": {onPage}, "from": {from}}
		if since != "" {
			query.Set("to", since)
		}
		var page struct {
			Chunk []event `json:"chunk"`
			End   string  `json:"end"`
		}
		err := s.call(ctx, http.MethodGet, ofRoom(id, "messages")+"?"+query.Encode(), nil, &page)
		switch {
		case bridge.FailureOf(err).Final: // the bot is not in the room any more
			s.lines.Printf("room %s: look at what came before: %v", id, err)
			return events, nil
		case err != nil:
			return nil, err
		}
		slices.Reverse(page.Chunk)
		events = append(page.Chunk, events...)
		if from = page.End; from == "" || s.arrival(page.Chunk) >= 0 {
			return events, nil
		}
	}
	s.lines.Printf("room %s: more than %s times %d events came while the bot was away: the older ones are not looked at", id, onPage, pages)
	return events, nil
}
