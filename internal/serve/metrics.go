package serve

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/VictoriaMetrics/metrics"

	"nbs-worker/internal/store/conversations"
)

// counts is what the server has done.
type counts struct{ set *metrics.Set }

// count begins the counting. What is asked for when somebody looks is read from the disk then.
func (s *Server) count() {
	s.counts.set = metrics.NewSet()
	s.counts.set.NewGauge("nbs_warm_processes", func() float64 { return float64(s.Engine.Warm.Len()) })
	for _, word := range []string{"queued", "running", "held", "dead"} {
		s.counts.set.NewGauge(fmt.Sprintf("nbs_turns_open{state=%q}", word), func() float64 { return float64(s.open()[word]) })
	}
}

// turn counts a turn that is over.
func (c *counts) turn(r conversations.Result) {
	class := r.Class
	if class == "" {
		class = "answered"
	}
	c.set.GetOrCreateCounter(fmt.Sprintf("nbs_turns_total{result=%q}", class)).Inc()
	if r.Continuity != "" {
		c.set.GetOrCreateCounter(fmt.Sprintf("nbs_answers_total{continuity=%q}", r.Continuity)).Inc()
	}
	c.set.GetOrCreatePrometheusHistogram("nbs_turn_duration_seconds").Update(float64(r.DurationMS) / 1000)
}

// open is how many turns are in each state.
func (s *Server) open() map[string]int {
	all := map[string]int{}
	keys, _ := s.Engine.Store.Conversations().WithWork() // what cannot be read is told in the list of conversations
	for _, key := range keys {
		state, err := s.Engine.Store.Conversations().Of(key).State()
		if err != nil {
			continue
		}
		waiting, _ := s.Engine.Open(&state)
		for _, w := range waiting {
			all[w.Word]++
		}
	}
	return all
}

// health is what is told at /healthz.
type health struct {
	Status string         `json:"status"` // "ok", or "degraded": some turns wait for a person
	Warm   int            `json:"warm"`   // processes
	Open   map[string]int `json:"open"`   // turns, by their state
}

// looks are the routes that change nothing.
func (s *Server) looks() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		h := health{Status: "ok", Warm: s.Engine.Warm.Len(), Open: s.open()}
		if h.Open["dead"] > 0 {
			h.Status = "degraded"
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(h) // who has left reads nothing
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) { s.counts.set.WritePrometheus(w) })
	return mux
}
