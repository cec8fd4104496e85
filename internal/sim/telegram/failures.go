package telegram

import (
	"context"
	"fmt"
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
	HTML       bool   `json:"html,omitempty"`        // the answer is a page, as from a proxy
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

// Faults returns what was wrong with the bot's requests although Telegram does not refuse it: an unknown parameter, an
// unknown method, a value that is dropped. A bot as it should be has none.
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

// AwaitCalls waits until a method of the Bot API was called that often.
func (s *Server) AwaitCalls(ctx context.Context, method string, count int) error {
	if !s.await(ctx, func() bool { return s.calls[method] >= count }) {
		return fmt.Errorf("wait for %d calls of %s: %w", count, method, ctx.Err())
	}
	return nil
}

// Calls is how often a method of the Bot API was called; "file" is a download.
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
