package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// messages answers POST /v1/messages.
func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	defer func() { s.busy.Add(int64(time.Since(begun))) }()
	body, m, ok := s.read(w, r)
	if !ok {
		return
	}
	got := s.received(r, body, m)
	a := compute(m, body)
	fails := a.status != 0 && (a.times == 0 || s.attempt(m.turnKey(got.SessionID)) <= a.times) && !s.isReleased(a.heals)
	midstream := fails && a.midstream && m.Stream
	status := http.StatusOK
	if fails && !midstream {
		status = a.status
	}
	s.keep(got, status)
	if !pause(r.Context(), a.delay) || a.until != "" && !isOpen(r.Context(), s.gate(a.until)) {
		return
	}
	a.tellLimits(w.Header(), begun)
	switch {
	case midstream:
		breakOff(w, m.Model, id("msg", body), a)
	case fails && a.drop:
		panic(http.ErrAbortHandler) // closes the connection
	case fails:
		writeError(w, status, a.complaint())
	case m.Stream:
		stream(r.Context(), w, m.Model, id("msg", body), a)
	default:
		writeJSON(w, http.StatusOK, whole(m.Model, id("msg", body), a))
	}
}

// complaint is the message of an error. Clients parse the one about a conversation that does not fit.
func (d directives) complaint() string {
	if d.tooLong {
		return "prompt is too long: 1000001 tokens > 1000000 maximum"
	}
	return "simulated"
}

// countTokens answers POST /v1/messages/count_tokens.
func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	body, m, ok := s.read(w, r)
	if !ok {
		return
	}
	s.keep(s.received(r, body, m), http.StatusOK)
	writeJSON(w, http.StatusOK, map[string]int{"input_tokens": compute(m, body).input})
}

func (s *Server) read(w http.ResponseWriter, r *http.Request) (body []byte, m message, ok bool) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		s.keep(s.received(r, body, m), http.StatusBadRequest)
		writeError(w, http.StatusBadRequest, "read request: "+err.Error())
	}
	return body, m, err == nil
}

// pause waits, and returns false when the client disconnects meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// errorType gives the API's own name for a status; the rest is an api_error.
func errorType(status int) string {
	switch status {
	case 400:
		return "invalid_request_error"
	case 401:
		return "authentication_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 504:
		return "timeout_error"
	case 529:
		return "overloaded_error"
	}
	return "api_error"
}

func writeError(w http.ResponseWriter, status int, text string) {
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, errorObject(status, text))
}

func errorObject(status int, text string) object {
	return object{
		"type":       "error",
		"error":      map[string]string{"type": errorType(status), "message": text},
		"request_id": "req_sim",
	}
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_sim")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may have gone away
}
