package hosts

import (
	"context"
	"errors"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/platform/child"
)

// attach goes to an agent's terminal at a host, and goes there again when the connection was cut, until the user leaves.
func attach(ctx context.Context, f *ui.Factory, known host.Hosts, p part) error {
	if !f.Streams.InTTY || !f.Streams.OutTTY {
		return fail.Errorf(fail.BadInput, "attach needs a terminal").Hint("from a script: nbs-worker --host %s screen HANDLE", p.host)
	}
	h, err := known.Find(p.host)
	if err != nil {
		return err
	}
	const pause = 2 * time.Second
	for been := false; ; been = true {
		code, err := onTerminal(ctx, h, p.args)
		if err != nil || code != cut {
			return ended(err, code)
		}
		if reached := reach(ctx, f, h); reached != nil {
			un, is := errors.AsType[*link.Unreachable](reached)
			if !been || !is || !un.Reason.Passes() {
				return reached
			}
		}
		f.Line("the connection to " + h.Name + " was cut; it is made again (Ctrl-C leaves)")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// cut is the exit code of an ssh whose connection ended, or was not made.
const cut = 255

// onTerminal runs a command line at a host on the user's terminal, once, and returns its exit code.
func onTerminal(ctx context.Context, h host.Host, words []string) (code int, err error) {
	if h.Folder != "" {
		words = append([]string{"--root", h.Folder}, words...)
	}
	argv := link.OnTerminal(h, words...)
	return child.OnTerminal(ctx, argv[0], argv[1:]...)
}

// asked runs a command line that asks the user something.
func asked(ctx context.Context, f *ui.Factory, h host.Host, args []string) error {
	code, err := onTerminal(ctx, h, args)
	if err != nil || code != cut {
		return ended(err, code)
	}
	if err := reach(ctx, f, h); err != nil {
		return err
	}
	f.Line("the connection to " + h.Name + " was cut")
	return ended(nil, int(fail.TimedOut))
}

// reach connects to a host, to find out why it cannot be reached.
func reach(ctx context.Context, f *ui.Factory, h host.Host) error {
	l, err := open(f, h)
	if err != nil {
		return err
	}
	defer l.Close()
	return l.Reach(ctx)
}
