package hosts

import (
	"context"
	"errors"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
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
	been, said := false, ""
	for {
		v, err := onTerminal(ctx, f, h, p.args)
		been = been || v.Arrived
		if err != nil && v.Arrived {
			f.LeaveFullScreen()
		}
		un, is := errors.AsType[*link.Unreachable](err)
		if !is || !been || !un.Reason.Passes() {
			return ended(err, v.Code)
		}
		text := "the connection to " + h.Name + " was cut; it is made again (Ctrl-C leaves)"
		if !v.Arrived {
			text = h.Name + " is unreachable: " + un.Words() + "; it is tried again (Ctrl-C leaves)"
		}
		if v.Arrived || text != said { // each reason once
			f.Line(text)
		}
		said = text
		select {
		case <-ctx.Done():
			return interrupted(h, v)
		case <-time.After(pause):
		}
	}
}

// onTerminal runs a command line at a host on the user's terminal, once.
func onTerminal(ctx context.Context, f *ui.Factory, h host.Host, words []string) (link.Visit, error) {
	if h.Folder != "" {
		words = append([]string{"--root", h.Folder}, words...)
	}
	v, err := link.OnTerminal(ctx, h, func(text string) { f.Note("%s", text) }, words...)
	if ctx.Err() != nil {
		err = interrupted(h, v)
	}
	return v, err
}

func interrupted(h host.Host, v link.Visit) error {
	if v.Arrived {
		return fail.Errorf(fail.Interrupted, "interrupted")
	}
	return fail.Errorf(fail.Interrupted, "interrupted before %s was reached", h.Name)
}

// asked runs a command line that asks the user something.
func asked(ctx context.Context, f *ui.Factory, h host.Host, args []string) error {
	v, err := onTerminal(ctx, f, h, args)
	return ended(err, v.Code)
}
