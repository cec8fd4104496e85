package serve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/store/conversations"
)

// counts holds the server's metrics by name and label. The format is written here: a library for it would add half a
// millisecond to the start of every command.
type counts struct {
	mu      sync.Mutex
	sums    map[string]float64
	gathers func(show func(name string, value float64)) // reads the current values
}

// count starts the counting. Current values are read from the disk on request.
func (s *Server) count() {
	s.counts.sums = map[string]float64{}
	s.counts.gathers = func(show func(string, float64)) {
		show("nbs_warm_processes", float64(s.Engine.Warm.Len()))
		open, _ := s.open()
		for _, word := range []string{conversation.Queued, conversation.Running, conversation.Later, conversation.Dead} {
			show(fmt.Sprintf("nbs_turns_open{state=%q}", word), float64(open[word]))
		}
	}
}

// turn counts a finished turn.
func (c *counts) turn(r conversations.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sums[fmt.Sprintf("nbs_turns_total{result=%q}", cmp.Or(r.Class, "answered"))]++
	if r.Continuity != "" {
		c.sums[fmt.Sprintf("nbs_answers_total{continuity=%q}", r.Continuity)]++
	}
	c.sums["nbs_turn_duration_seconds_sum"] += float64(r.DurationMS) / 1000
	c.sums["nbs_turn_duration_seconds_count"]++
}

// write writes all metrics in the text format of Prometheus.
func (c *counts) write(to io.Writer) {
	show := func(name string, value float64) { fmt.Fprintf(to, "%s %g\n", name, value) }
	c.gathers(show)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.sums)) {
		show(name, c.sums[name])
	}
}

// open returns the number of turns in each state, and of those that are held for a person.
func (s *Server) open() (all map[string]int, attend int) {
	all = map[string]int{}
	keys, _ := s.Engine.Project.Store.Conversations().WithWork() // the list of conversations reports unreadable ones
	for _, key := range keys {
		state, err := s.Engine.Project.Store.Conversations().Of(key).State()
		if err != nil {
			continue
		}
		waiting, _ := s.Engine.Open(&state)
		for _, w := range waiting {
			all[w.Word]++
			if w.Held != nil && w.Held.NeedsPerson() {
				attend++
			}
		}
	}
	return all, attend
}

// health is the answer of /healthz.
type health struct {
	Status string         `json:"status"` // "ok", or "degraded": some turns probably wait for a person
	Warm   int            `json:"warm"`   // processes
	Open   map[string]int `json:"open"`   // turns, by their state
}

// looks returns the handler of the read-only routes.
func (s *Server) looks() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		open, attend := s.open()
		h := health{Status: "ok", Warm: s.Engine.Warm.Len(), Open: open}
		if attend > 0 {
			h.Status = "degraded"
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(h) // an error means that the caller has left
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) { s.counts.write(w) })
	return mux
}
