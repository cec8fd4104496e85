package tmux

import (
	"sync"
	"time"

	"nbs-worker/internal/fail"
)

const (
	// answerLimit is how long the client waits for each answer of a server. An answer takes some milliseconds; with
	// too few processors, and many starts at once, it takes seconds.
	answerLimit = 10 * time.Second
	// silence is how long a silent server is not asked again. It outlasts every verb that does not wait for claude; a
	// verb that waits asks again.
	silence = 10 * time.Second
	// proof is how long a server must be silent to be not asked again. A caller whose own time runs out earlier has
	// learned nothing about the server.
	proof = 2 * time.Second
)

// health is what a command knows about one server.
type health struct {
	mu    sync.Mutex
	since time.Time // when it was found silent
	err   error
}

// silentFor returns the error for a server that gave no answer, or only the beginning of one, and records that it was
// silent, if it was so for long.
func (h *health) silentFor(waited time.Duration, printed int) error {
	const readable = 10 * time.Millisecond
	err := fail.Errorf(fail.TimedOut, "the tmux server was silent for %s", waited.Round(readable))
	if printed > 0 {
		err = fail.Errorf(fail.TimedOut, "tmux printed %d bytes in %s and did not end", printed, waited.Round(readable))
	}
	err = err.Hint("it may carry out the request later")
	if waited >= proof {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.since, h.err = time.Now(), err
	}
	return err
}

// wasSilent returns why a server must not be asked, or nil.
func (h *health) wasSilent() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.since) >= silence {
		return nil
	}
	return h.err
}
