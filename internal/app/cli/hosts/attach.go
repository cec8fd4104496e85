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
	words := p.args
	if h.Folder != "" {
		words = append([]string{"--root", h.Folder}, words...)
	}
	const pause = 2 * time.Second
	for been := false; ; been = true {
		argv := link.OnTerminal(h, words...)
		code, err := child.OnTerminal(ctx, argv[0], argv[1:]...)
		const cut = 255 // of ssh
		if err != nil || code != cut {
			return ended(err, code)
		}
		if reached := reach(ctx, h); reached != nil {
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

// reach connects to a host, to find out why it cannot be reached.
func reach(ctx context.Context, h host.Host) error {
	l, err := open(h)
	if err != nil {
		return err
	}
	defer l.Close()
	return l.Reach(ctx)
}
