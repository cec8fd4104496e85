package matrix

import (
	"cmp"
	"io"
	"net/http"
	"slices"
)

// Failure is what becomes of the next calls of a method.
type Failure struct {
	Method     string `json:"method"`
	Times      int    `json:"times"`                    // 1 when it is 0
	Code       int    `json:"code"`                     // HTTP status; 0: the connection is cut
	Errcode    string `json:"errcode,omitempty"`        // M_UNKNOWN when empty, and M_LIMIT_EXCEEDED with 429
	RetryAfter int    `json:"retry_after_ms,omitempty"` // with 429
	Done       bool   `json:"done,omitempty"`           // the call is carried out, and only its answer is lost
	HTML       bool   `json:"html,omitempty"`           // the answer is a page, as from a proxy
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
	switch {
	case f.Code == 0:
		panic(http.ErrAbortHandler) // cuts the connection
	case f.HTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Code)
		_, _ = io.WriteString(w, "<html><body>"+http.StatusText(f.Code)+"</body></html>")
	case f.Code == http.StatusTooManyRequests:
		r := refused(f.Code, "M_LIMIT_EXCEEDED", "Too Many Requests")
		r.more = map[string]any{"retry_after_ms": f.RetryAfter}
		r.tell(w)
	default:
		refused(f.Code, cmp.Or(f.Errcode, "M_UNKNOWN"), "%s", http.StatusText(f.Code)).tell(w)
	}
}
