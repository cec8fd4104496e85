package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// maxBody bounds what is kept of a request's body.
const maxBody = 1 << 20

// Request is what was received.
type Request struct {
	Time      time.Time `json:"time"`
	Method    string    `json:"method"`
	Path      string    `json:"path"`
	SessionID string    `json:"session_id,omitempty"` // header X-Claude-Code-Session-Id
	Model     string    `json:"model,omitempty"`
	Texts     []string  `json:"texts,omitempty"` // every user text of the request, oldest first
	Side      bool      `json:"side,omitempty"`  // the client's own query (a title), not its user's
	Status    int       `json:"status"`
	Body      []byte    `json:"-"` // at most 1 MiB of it
}

// Last is the newest user text, which is the one that was answered.
func (r Request) Last() string {
	if len(r.Texts) == 0 {
		return ""
	}
	return r.Texts[len(r.Texts)-1]
}

// Requests returns all requests so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) received(r *http.Request, body []byte, m message) Request {
	text, _, _ := m.lastTurn()
	return Request{
		Time:      time.Now(),
		Method:    r.Method,
		Path:      r.URL.Path,
		SessionID: r.Header.Get("X-Claude-Code-Session-Id"),
		Model:     m.Model,
		Texts:     m.userTexts(),
		Side:      isSide(text),
		Body:      body[:min(len(body), maxBody)],
	}
}

// keep records a request before it is answered, so that whoever saw the answer also sees the request.
func (s *Server) keep(r Request, status int) {
	r.Status = status
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.log == nil {
		return
	}
	if line, err := json.Marshal(r); err == nil {
		_, _ = s.log.Write(append(line, '\n')) // a full disk must not change what the client sees
	}
}

// attempt counts how often the same turn was tried, from 1.
func (s *Server) attempt(turn string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts[turn]++
	return s.attempts[turn]
}
