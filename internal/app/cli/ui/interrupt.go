package ui

import (
	"context"
	"os/signal"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// UntilInterrupted returns a context that the first SIGINT or SIGTERM ends. The second one ends the program without
// cleanup; the files on disk are consistent at all times. A launcher ignores both signals: claude handles them.
//
// The signals are caught from the moment at which the context is first waited for. Until then they end the program, as
// if it had not begun: to catch them takes a tenth of the time of a report of claude's, such as a hook, which never waits.
// Every other verb begins with [Factory.CatchSignals].
func (f *Factory) UntilInterrupted(parent context.Context) (ctx context.Context, stop func()) {
	parent, cancel := context.WithCancel(parent)
	c := &interruptible{Context: parent}
	c.catch = sync.OnceFunc(func() {
		caught, stop := signal.NotifyContext(parent, unix.SIGINT, unix.SIGTERM)
		context.AfterFunc(caught, func() {
			if !f.Launches.Load() {
				stop()
			}
		})
		c.caught.Store(&signals{caught, stop})
	})
	return c, func() {
		cancel()
		if caught := c.caught.Load(); caught != nil {
			caught.stop()
		}
	}
}

// CatchSignals catches the signals of a context of UntilInterrupted from now on: a verb completes what it has begun, even if
// it waits for nothing. The reports of claude do not.
func (f *Factory) CatchSignals(ctx context.Context) {
	if f.Verb != "hook" && f.Verb != "statusline" {
		f.interrupted = ctx.Done()
	}
}

// interruptible is a context that catches signals from the moment at which it is waited for.
type interruptible struct {
	context.Context // the parent

	catch  func()
	caught atomic.Pointer[signals] // nil until then
}

type signals struct {
	context.Context

	stop func()
}

func (c *interruptible) now() context.Context {
	if caught := c.caught.Load(); caught != nil {
		return caught
	}
	return c.Context
}

func (c *interruptible) Err() error        { return c.now().Err() }
func (c *interruptible) Value(key any) any { return c.now().Value(key) }

func (c *interruptible) Done() <-chan struct{} {
	c.catch()
	return c.now().Done()
}
