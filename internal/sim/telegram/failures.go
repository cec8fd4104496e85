package telegram

import (
	"io"
	"net/http"
	"slices"
)

// Failure is what becomes of the next calls of a method.
type Failure struct {
	Method     string `json:"method"`                // "file" is a download
	Times      int    `json:"times"`                 // 1 when it is 0
	Code       int    `json:"code"`                  // HTTP status, and error_code in the answer; 0: the connection is cut
	Why        string `json:"why,omitempty"`         // description in the answer; the name of the status when empty
	RetryAfter int    `json:"retry_after,omitempty"` // seconds, with 429
	MigrateTo  int64  `json:"migrate_to,omitempty"`  // the chat that the group has become, with 400
	Done       bool   `json:"done,omitempty"`        // the call is carried out, and only its answer is lost
	Mute       bool   `json:"mute,omitempty"`        // the caller waits for the answer until it leaves
	HTML       bool   `json:"html,omitempty"`        // the answer is a page, as from a proxy
}

// Fail has the next calls of a method fail.
func (s *Server) Fail(f Failure) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	f.Times = max(f.Times, 1)
	s.failures = append(s.failures, &f)
}

// failure takes the next failure that is meant for a method. It returns nil if no failure is. The lock is held.
func (s *Server) failure(method string) *Failure {
	at := slices.IndexFunc(s.failures, func(f *Failure) bool { return f.Method == method })
	if at < 0 {
		return nil
	}
	f := s.failures[at]
	if f.Times--; f.Times == 0 {
		s.failures = slices.Delete(s.failures, at, at+1)
	}
	return f
}

func (f *Failure) tell(w http.ResponseWriter) {
	why := f.Why
	if why == "" {
		why = http.StatusText(f.Code)
	}
	switch {
	case f.Code == 0:
		panic(http.ErrAbortHandler) // cuts the connection
	case f.HTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Code)
		_, _ = io.WriteString(w, "<html><body>"+why+"</body></html>")
	case f.MigrateTo != 0:
		movedTo(f.MigrateTo).tell(w)
	default:
		refuse(w, f.Code, why, f.RetryAfter)
	}
}
