package tmux

import (
	"sync"
	"time"

	"nbs-worker/internal/agent"
)

// health is what is known of one server.
type health struct {
	mu         sync.Mutex
	unanswered time.Time     // when it last gave no answer
	inVain     wait          // the wait for that
	took       time.Duration // for its last answer; 0 without one
}

// silence is how long a server that gave no answer is not asked again. It outlasts
// every verb that does not wait for claude, and ends for those that do.
const silence = 10 * time.Second

// silent returns why a server is not asked; nil when it is.
func (h *health) silent() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unanswered.IsZero() || time.Since(h.unanswered) >= silence {
		return nil
	}
	return h.inVain.err()
}

// answers tells whether the server gave an answer, and none was missing since.
func (h *health) answers() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.took > 0
}

func (h *health) gaveNoAnswer(inVain wait) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unanswered, h.inVain, h.took = time.Now(), inVain, 0
}

func (h *health) answered(took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.took = took
}

// CheckPace refuses a server whose last answer was slow, before something is begun there
// that takes many answers and must not end half way. Errors: TimedOut.
func (c *Client) CheckPace() error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if c.server.took < slow {
		return nil
	}
	return agent.Errorf(agent.TimedOut, "tmux took %s for one answer", c.server.took.Round(time.Millisecond))
}
