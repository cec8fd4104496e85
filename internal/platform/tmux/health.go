package tmux

import (
	"sync"
	"time"

	"nbs-worker/internal/fail"
)

const (
	// answerLimit is how long a server is waited for, at each question. An answer takes some
	// milliseconds; on a machine that is short of processors, and with many starts at once, seconds.
	answerLimit = 10 * time.Second
	// stuckEvery is how often the process of a server that owes an answer is looked at. One that is stuck
	// then is not waited for any longer.
	stuckEvery = 2 * time.Second
	// silence is how long a server that was silent is not asked again. It outlasts every verb that
	// does not wait for claude; a verb that does asks again.
	silence = 10 * time.Second
)

// health is what a command knows of one server.
type health struct {
	mu    sync.Mutex
	since time.Time // when it was found silent
	err   error
}

// silentFor notes that a server gave no answer, or only the beginning of one, and returns the error for that.
func (h *health) silentFor(waited time.Duration, printed int) error {
	const readable = 10 * time.Millisecond
	waited = waited.Round(readable)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since = time.Now()
	err := fail.Errorf(fail.TimedOut, "the tmux server was silent for %s", waited)
	if printed > 0 {
		err = fail.Errorf(fail.TimedOut, "tmux printed %d bytes in %s and did not end", printed, waited)
	}
	h.err = err.Hint("it may still do what it was asked when it goes on")
	return h.err
}

// wasSilent returns why a server is not asked; nil when it is to be asked.
func (h *health) wasSilent() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.since) >= silence {
		return nil
	}
	return h.err
}
