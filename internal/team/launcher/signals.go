package launcher

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/team/observe"
)

// catch sends the launcher's signals to the channel. Signals of the keyboard are caught, not ignored, because an
// ignored signal stays ignored in the child. They stay caught after claude has ended: a late hangup must not end the
// launcher before the exit is recorded. Catching them again at another start changes nothing; signals that came in
// between are answered then.
func catch(signals chan<- os.Signal) {
	signal.Notify(signals, unix.SIGINT, unix.SIGQUIT, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGTERM, unix.SIGHUP, observe.FollowSignal)
}

// forwardSignals answers the launcher's signals until claude has ended.
func (c *child) forwardSignals(signals <-chan os.Signal) {
	defer close(c.looks)
	for {
		select {
		case sig := <-signals:
			c.answer(sig)
		case <-c.left:
			return
		}
	}
}

// answer forwards a request to leave to claude. Signals of the keyboard need no answer: claude reads the keys itself.
func (c *child) answer(sig os.Signal) {
	const settle = 100 * time.Millisecond
	switch sig {
	case unix.SIGTERM, unix.SIGHUP:
		if sig == unix.SIGHUP {
			c.hungUp.Store(true)
		} else {
			c.asked.Store(true)
		}
		c.holdEntry()
		_ = c.cmd.Process.Signal(sig)
	case unix.SIGTSTP:
		// C-z makes claude suspend itself, and in a pane there is no shell to type fg.
		time.AfterFunc(settle, func() { _ = c.cmd.Process.Signal(unix.SIGCONT) })
	case observe.FollowSignal:
		if c.ended() {
			return // the kernel sent it: claude has ended
		}
		c.holdEntry()
		select {
		case c.looks <- struct{}{}:
		default: // one look is already requested
		}
	}
}

// lookByClock is how often a launcher looks without a signal while a message waits for its agent.
const lookByClock = 10 * time.Second

// lookAround looks at the record in a separate goroutine: a look may wait for a lock, and a signal that ends claude
// must not wait. It looks by the clock while a message waits, and once after the start, because hooks may be turned
// off.
func (c *child) lookAround() {
	defer close(c.looked)
	for clock := time.After(lookByClock); ; {
		byClock := false
		select {
		case _, open := <-c.looks:
			if !open {
				return
			}
		case <-clock:
			byClock, clock = true, nil
		}
		if c.look(byClock) && clock == nil {
			clock = time.After(lookByClock)
		}
	}
}
