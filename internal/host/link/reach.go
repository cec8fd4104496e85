package link

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"nbs-worker/internal/fail"
)

// attempt is a connection that is being made, for all requests that need one. It ends when the last of them leaves.
type attempt struct {
	over    chan struct{} // closed when conn and err are known
	conn    *conn
	err     error
	waiters int
	end     context.CancelFunc
}

// Reach connects. Errors: those of an unreachable host.
func (l *Link) Reach(ctx context.Context) error {
	_, err := l.connected(ctx)
	return err
}

// Heard returns when the host gave the last sign of life on the connection that is there, and the zero time without one. A
// host of an older program gives none: it is taken to live.
func (l *Link) Heard() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.conn == nil:
		return time.Time{}
	case !l.conn.hi.Beats:
		return time.Now()
	}
	return time.Unix(0, l.conn.heard.Load())
}

// Version returns that of the host's program, once it was reached; "" before.
func (l *Link) Version() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return ""
	}
	return l.conn.hi.Version
}

// Close ends the connection. What was begun at the host goes on. A terminal or a pipe that takes nothing does not hold it.
func (l *Link) Close() {
	l.mu.Lock()
	c, a := l.conn, l.attempt
	l.conn, l.attempt = nil, nil
	l.mu.Unlock()
	if a != nil {
		a.end()
		<-a.over
		c = cmp.Or(c, a.conn)
	}
	if c != nil {
		c.end()
		select {
		case <-c.ended:
		case <-time.After(afterItsEnd):
		}
	}
	if log, is := l.Log.(io.Closer); is {
		_ = log.Close()
	}
}

// connected returns the connection, a new one if the last has ended. Those that wait for one share it, and each leaves when
// its own context ends.
func (l *Link) connected(ctx context.Context) (*conn, error) {
	l.mu.Lock()
	if l.conn != nil {
		select {
		case <-l.conn.ended:
			l.conn = nil
		default:
			defer l.mu.Unlock()
			return l.conn, nil
		}
	}
	if l.attempt == nil {
		l.attempt = l.connect(context.WithoutCancel(ctx))
	}
	a := l.attempt
	a.waiters++
	l.mu.Unlock()
	select {
	case <-a.over:
		return a.conn, a.err
	case <-ctx.Done():
		l.leave(a)
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return nil, unreachableFor(TimedOut, l.Host, "")
	}
	return nil, fail.Errorf(fail.Interrupted, "interrupted before %s was reached", l.Host.Name)
}

// connect begins an attempt. The caller holds the lock.
func (l *Link) connect(ctx context.Context) *attempt {
	const greeting = 2 * time.Minute // a network that takes seconds each way is slow, and not dead
	ctx, end := context.WithTimeout(ctx, greeting)
	a := &attempt{over: make(chan struct{}), end: end}
	go func() {
		defer close(a.over)
		defer end()
		a.conn, a.err = dial(ctx, l.Host, l.Log, cmp.Or(l.Limits.Silence, silence))
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.attempt == a { // it has not been left
			l.conn, l.attempt = a.conn, nil
		}
	}()
	return a
}

// leave ends an attempt that nothing waits for any more.
func (l *Link) leave(a *attempt) {
	l.mu.Lock()
	a.waiters--
	last := a.waiters == 0 && l.attempt == a
	if last {
		l.attempt = nil
	}
	l.mu.Unlock()
	if !last {
		return
	}
	a.end()
	if <-a.over; a.conn != nil {
		a.conn.close()
	}
}
