package matrix

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// filter is what the bot asks to see.
type filter struct {
	Room struct {
		Timeline struct {
			Limit int      `json:"limit"`
			Types []string `json:"types"`
		} `json:"timeline"`
	} `json:"room"`
}

const (
	usualTimeline = 20 // events of a room in a sync
	usualPage     = 10 // events of a page of messages
)

// filterOf reads the filter of a request, and notes what the API does not know of it. The lock is held.
func (s *Server) filterOf(r *http.Request) (f filter, no *refusal) {
	f.Room.Timeline.Limit = usualTimeline
	raw := r.URL.Query().Get("filter")
	if raw == "" {
		return f, nil
	}
	var fields map[string]map[string]any
	if json.Unmarshal([]byte(raw), &fields) != nil || json.Unmarshal([]byte(raw), &f) != nil {
		return f, refused(http.StatusBadRequest, "M_UNKNOWN", "Invalid filter")
	}
	for name, part := range fields {
		switch name {
		case "room":
			s.known("the filter of rooms", part, "rooms not_rooms account_data ephemeral include_leave state timeline")
			for name, of := range part {
				if of, is := of.(map[string]any); is {
					s.known("the filter of "+name, of, "limit types not_types senders not_senders rooms not_rooms lazy_load_members include_redundant_members contains_url unread_thread_notifications")
				}
			}
		case "presence", "account_data":
			s.known("the filter of "+name, part, "limit types not_types senders not_senders")
		default:
			s.Fault("the filter has no field %q", name)
		}
	}
	return f, nil
}

// place is a place among the events: the number of those before it.
func place(token string) (after int, no *refusal) {
	if token == "" {
		return 0, nil
	}
	after, err := strconv.Atoi(token[1:])
	if err != nil || token[0] != 's' {
		return 0, refused(http.StatusBadRequest, "M_UNKNOWN", "Invalid stream token")
	}
	return after, nil
}

func token(after int) string { return fmt.Sprintf("s%d", after) }

func (s *Server) sync(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	s.Mu.Lock()
	wanted, no := s.filterOf(r)
	s.Mu.Unlock()
	since, unknown := place(query.Get("since"))
	patience := 0
	if text := query.Get("timeout"); text != "" {
		var err error
		if patience, err = strconv.Atoi(text); err != nil {
			unknown = refused(http.StatusBadRequest, "M_INVALID_PARAM", "Query parameter 'timeout' must be an integer")
		}
	}
	if no = cmp.Or(no, unknown); no != nil {
		no.tell(w)
		return
	}
	ctx, end := context.WithTimeout(r.Context(), time.Duration(patience)*time.Millisecond)
	defer end()
	first, full := query.Get("since") == "", query.Get("full_state") == "true"
	s.AwaitChange(ctx, func() bool { return first || full || s.isNews(since) || s.due("sync") })
	if r.Context().Err() != nil {
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	write(w, http.StatusOK, s.batch(since, first, full, wanted))
}

// due reports whether a failure of a method waits: then a long poll ends, and the next one fails. The lock is held.
func (s *Server) due(method string) bool {
	return slices.ContainsFunc(s.failures, func(f *Failure) bool { return f.Method == method })
}

// isNews reports whether something that concerns the bot came after a place. The lock is held.
func (s *Server) isNews(since int) bool {
	return slices.ContainsFunc(s.events[min(since, len(s.events)):], func(e *event) bool {
		membership := s.rooms[e.room].members[Bot]
		return membership == "join" || e.kind == "m.room.member" && *e.state == Bot
	})
}

// batch is the answer of a sync. The lock is held.
func (s *Server) batch(since int, first, full bool, f filter) map[string]any {
	join, invite, leave := map[string]any{}, map[string]any{}, map[string]any{}
	for id, r := range s.rooms {
		before := s.membershipAt(id, since)
		switch now := r.members[Bot]; {
		case now == "join":
			if about := s.joinedRoom(id, since, first || before != "join", full, f); about != nil {
				join[id] = about
			}
		case now == "invite" && (first || before != "invite"):
			invite[id] = map[string]any{"invite_state": map[string]any{"events": s.stripped(id)}}
		case now == "leave" && before != "leave" && before != "" && !first:
			leave[id] = map[string]any{"state": map[string]any{"events": []any{}}, "timeline": map[string]any{"events": []any{}, "limited": false, "prev_batch": token(since)}}
		}
	}
	return map[string]any{"next_batch": token(len(s.events)), "rooms": map[string]any{"join": join, "invite": invite, "leave": leave, "knock": map[string]any{}}}
}

// membershipAt returns the bot's membership of a room at a place. The lock is held.
func (s *Server) membershipAt(room string, at int) (membership string) {
	for _, e := range s.events[:min(at, len(s.events))] {
		if e.room == room && e.kind == "m.room.member" && *e.state == Bot {
			membership, _ = e.content["membership"].(string)
		}
	}
	return membership
}

// joinedRoom is a room in a sync: with all that is known of it when it is new to the bot, with all its state when full is
// asked for; nil when nothing happened. The lock is held.
func (s *Server) joinedRoom(id string, since int, isNew, full bool, f filter) map[string]any {
	var timeline []*event
	for _, e := range s.events {
		if e.room == id && (isNew || e.number > since) {
			timeline = append(timeline, e)
		}
	}
	if len(timeline) == 0 && !full {
		return nil
	}
	limited := len(timeline) > f.Room.Timeline.Limit
	begin := len(s.events)
	if limited {
		timeline = timeline[len(timeline)-f.Room.Timeline.Limit:]
	}
	if len(timeline) > 0 {
		begin = timeline[0].number - 1
	}
	events := []any{}
	for _, e := range timeline {
		if len(f.Room.Timeline.Types) == 0 || slices.Contains(f.Room.Timeline.Types, e.kind) {
			events = append(events, s.render(e, false))
		}
	}
	after := since
	if isNew || full {
		after = 0
	}
	r := s.rooms[id]
	return map[string]any{
		"summary":  map[string]any{"m.joined_member_count": r.joined()},
		"state":    map[string]any{"events": s.stateBetween(id, after, begin)},
		"timeline": map[string]any{"events": events, "limited": limited, "prev_batch": token(begin)},
	}
}

// stateBetween is the state of a room that was set between two places. The lock is held.
func (s *Server) stateBetween(room string, after, until int) []any {
	latest := map[string]*event{}
	for _, e := range s.events[min(after, until):until] {
		if e.room == room && e.state != nil {
			latest[e.kind+" "+*e.state] = e
		}
	}
	state := []any{}
	for _, e := range s.events[min(after, until):until] {
		if e.state != nil && latest[e.kind+" "+*e.state] == e {
			state = append(state, s.render(e, false))
		}
	}
	return state
}

// stripped is what an invited user sees of a room. The lock is held.
func (s *Server) stripped(room string) []any {
	var events []any
	for _, e := range s.events {
		if e.room != room || e.state == nil || e.kind == "m.room.member" && *e.state != Bot {
			continue
		}
		events = append(events, map[string]any{"type": e.kind, "sender": e.sender, "state_key": *e.state, "content": e.content})
	}
	return events
}

// messages is a page of the history of a room.
func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	query, room := r.URL.Query(), r.PathValue("room")
	from, unknown := place(query.Get("from"))
	to, wrong := place(query.Get("to"))
	no := s.isIn(room)
	if no == nil && query.Get("dir") != "b" { // the simulator knows one direction
		no = refused(http.StatusBadRequest, "M_INVALID_PARAM", "dir must be b")
	}
	no = cmp.Or(no, unknown, wrong)
	if no != nil {
		no.tell(w)
		return
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		limit = usualPage
	}
	if query.Get("from") == "" {
		from = len(s.events)
	}
	chunk, end := []any{}, 0
	for _, e := range slices.Backward(s.events[:min(from, len(s.events))]) {
		if e.room != room || e.number <= to {
			continue
		}
		if len(chunk) == limit {
			end = e.number
			break
		}
		chunk = append(chunk, s.render(e, true))
	}
	page := map[string]any{"start": query.Get("from"), "chunk": chunk}
	if end > 0 {
		page["end"] = token(end)
	}
	write(w, http.StatusOK, page)
}
