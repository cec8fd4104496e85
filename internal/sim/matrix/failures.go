package matrix

import (
	"cmp"
	"context"
	"fmt"
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
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(f.Times, 1)
	s.failures = append(s.failures, &f)
}

// failure takes the next failure that is meant for a method, nil when there is none. The lock is held.
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

// Faults returns what was wrong with the bot's requests although a homeserver does not refuse it. A bot as it should be
// has none.
func (s *Server) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

// fault notes a fault once. The lock is held.
func (s *Server) fault(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.faults, text) {
		s.faults = append(s.faults, text)
	}
}

// AwaitCalls waits until a method was called that often.
func (s *Server) AwaitCalls(ctx context.Context, method string, count int) error {
	if !s.await(ctx, func() bool { return s.calls[method] >= count }) {
		return fmt.Errorf("wait for %d calls of %s: %w", count, method, ctx.Err())
	}
	return nil
}

// Calls is how often a method was called.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Hold keeps the calls of a method waiting until release is called.
func (s *Server) Hold(method string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hold := make(chan struct{})
	s.holds[method] = hold
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.holds, method)
		close(hold)
	}
}

// Hasty is how often a method was called before it was allowed to be, after a 429.
func (s *Server) Hasty() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hasty
}
