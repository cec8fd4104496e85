package hosts

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
)

// placeOf returns the place of a word: a host, or this machine.
func placeOf(f *ui.Factory, word string) (place, error) {
	if word == here {
		name, err := os.Hostname()
		return place{onHere{f}, strings.ToLower(name), here}, err
	}
	known, err := host.Load(os.Environ())
	if err != nil {
		return place{}, err
	}
	h, err := known.Find(word)
	return place{onHost{f, h}, word, word}, err
}

// onHere runs commands in this process.
type onHere struct{ f *ui.Factory }

func (p onHere) Run(ctx context.Context, in io.ReadSeeker, out io.Writer, args ...string) error {
	if p.f.Root != "" {
		args = append(args, "--root", p.f.Root)
	}
	if p.f.Socket != "" {
		args = append(args, "--tmux-socket", p.f.Socket)
	}
	var said bytes.Buffer
	streams := ui.Streams{In: reader(in), Out: out, Err: &said}
	code := p.f.Execute(ctx, args, streams)
	return answered(p.f, "", code, said.String())
}

// onHost runs commands at a host.
type onHost struct {
	f *ui.Factory
	h host.Host
}

func (p onHost) Run(ctx context.Context, in io.ReadSeeker, out io.Writer, args ...string) error {
	l, err := open(p.f, p.h)
	if err != nil {
		return err
	}
	defer l.Close()
	var said bytes.Buffer
	r := link.NewRequest(p.h, true, args...)
	r.Starts = args[1] == "arrive" || args[1] == "take" && !slices.Contains(args, "--drop") // before the agent has left
	code, err := l.Run(ctx, r, link.Streams{In: in, Out: out, Err: &said})
	if err != nil {
		return withoutStep(err)
	}
	return answered(p.f, p.h.Name, code, said.String())
}

// withoutStep returns the error of a link without the command that asks what became of one step: a move is asked for again
// as a whole.
func withoutStep(err error) error {
	hints := fail.HintsOf(err)
	its := slices.DeleteFunc(slices.Clone(hints), func(hint string) bool { return strings.Contains(hint, "nbs-worker host result ") })
	if len(its) == len(hints) {
		return err
	}
	return &fail.Error{Kind: fail.KindOf(err), Err: errors.New(err.Error()), Hints: its}
}

func reader(in io.ReadSeeker) io.Reader {
	if in == nil {
		return strings.NewReader("")
	}
	return in
}

// answered returns the error of a command at a place, and passes on what else it has said.
func answered(f *ui.Factory, at string, code int, said string) error {
	if code == 0 {
		if said != "" {
			f.Line(strings.TrimRight(said, "\n"))
		}
		return nil
	}
	if at != "" {
		at = "at " + at + ": "
	}
	complaint := link.ReadComplaint(code, said)
	for _, line := range complaint.Rest {
		f.Line(line)
	}
	what := complaint.What
	if _, cause, is := strings.Cut(what, ": "); is && strings.HasPrefix(what, "host ") {
		what = cause
	}
	failed := fail.Errorf(complaint.Kind, "%s%s", at, what)
	failed.Hints = complaint.Hints
	return failed
}
