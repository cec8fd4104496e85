package hosts

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/trust"
)

// Elsewhere runs a command line that names hosts, each part of it at its host. It returns false if the line names none.
func Elsewhere(ctx context.Context, f *ui.Factory) (is bool, err error) {
	v := verbOf(f)
	if v == nil || v.name == "move" { // move asks both machines itself
		return false, nil
	}
	named, _ := v.cmd.Flags().GetString("host")
	if named == "" && v.cmd.Flags().Changed("host") { // an empty variable of a script must not mean this machine
		return true, ui.Failed(fail.Errorf(fail.BadInput, "--host names no host").Hint("to see your hosts: nbs-worker host list"), v.name)
	}
	if v.all {
		if named != "" {
			return true, fail.Errorf(fail.BadInput, "%s: --host and --hosts exclude each other", v.name)
		}
		if v.cmd.Flags().Changed("root") {
			return true, fail.Errorf(fail.BadInput, "%s: --root names a folder of this machine; each host has its own", v.name).
				Hint("to change one: nbs-worker host add NAME DESTINATION --folder DIR")
		}
		switch {
		case v.name == "dash" || v.name == "watch": // they ask the hosts themselves
			return false, nil
		case v.name == "next" && !v.json():
			return true, ui.Failed(v.next(ctx, f), v.name)
		}
		return true, ui.Failed(v.everywhere(ctx, f), v.name)
	}
	if !v.mayBeElsewhere(named) {
		return false, nil
	}
	known, err := host.Load(os.Environ())
	if err == nil {
		err = v.split(f.Args, named, known)
	}
	if err == nil && len(v.at) == 1 && v.at[0].host == "" {
		return false, nil
	}
	f.JSON = v.json()
	if refusal := v.permitted(f, known); refusal != nil { // before it is said which hosts there are
		err = refusal
	}
	if err != nil {
		return true, ui.Failed(err, v.name)
	}
	return true, v.run(ctx, f, known)
}

func (v *verb) json() bool {
	json, _ := v.cmd.Flags().GetBool("json")
	return json
}

// run runs the parts of a command line, side by side.
func (v *verb) run(ctx context.Context, f *ui.Factory, known host.Hosts) error {
	if v.name == "attach" {
		return ui.Failed(attach(ctx, f, known, v.at[0]), v.name)
	}
	in, err := input(f)
	if err != nil {
		return ui.Failed(err, v.name)
	}
	if len(v.at) == 1 {
		h, _ := known.Find(v.at[0].host) // split has found it
		if f.OnTerminal() && f.Streams.OutTTY && v.asks() {
			return ui.Failed(asked(ctx, f, h, v.at[0].args), v.name)
		}
		code, err := v.runAt(ctx, f, h, v.at[0].args, in, f.Streams)
		return ended(ui.Failed(err, v.name), code)
	}
	if f.JSON {
		return v.runEachForJSON(ctx, f, known, in)
	}
	return v.runEach(ctx, f, known, in)
}

// permitted checks whether the verb can be run at a host, and by this caller.
func (v *verb) permitted(f *ui.Factory, known host.Hosts) error {
	if err := v.check(known); err != nil {
		return err
	}
	f.Verb = "host result"
	if err := f.CheckPerson("use other machines"); err != nil {
		return err
	}
	f.Close()
	f.Opened = nil
	return nil
}

// runEach runs a verb at several hosts, and here if it names agents of this machine.
func (v *verb) runEach(ctx context.Context, f *ui.Factory, known host.Hosts, in []byte) error {
	var parts sync.WaitGroup
	failures := make([]error, len(v.at))
	for i, p := range v.at {
		parts.Go(func() {
			out, errOut := &shared{mu: &v.printing, to: f.Streams.Out}, &shared{mu: &v.printing, to: f.Streams.Err}
			streams := f.Streams
			streams.Out, streams.Err = out, errOut
			if in != nil {
				streams.In = bytes.NewReader(in)
			}
			defer out.flush()
			defer errOut.flush()
			if p.host == "" {
				failures[i] = ended(nil, f.Execute(ctx, p.args, streams))
				return
			}
			h, _ := known.Find(p.host)
			code, err := v.runAt(ctx, f, h, p.args, in, streams)
			if err != nil {
				err = ui.Failed(err, v.name)
				f.Report(err)
			}
			failures[i] = ended(err, code)
		})
	}
	parts.Wait()
	failed := slices.DeleteFunc(failures, func(err error) bool { return err == nil })
	return (&ui.Partial{Failures: failed, Of: len(v.at)}).Failed()
}

// runEachForJSON is runEach for a program: what each place prints stands under its name.
func (v *verb) runEachForJSON(ctx context.Context, f *ui.Factory, known host.Hosts, in []byte) error {
	all := make([]shown, len(v.at))
	var parts sync.WaitGroup
	for i, p := range v.at {
		parts.Go(func() {
			var out, said bytes.Buffer
			streams := f.Streams
			streams.Out, streams.Err = &out, &said
			if in != nil {
				streams.In = bytes.NewReader(in)
			}
			s := shown{host: p.host}
			if p.host == "" {
				s.code = f.Execute(ctx, p.args, streams)
			} else {
				h, _ := known.Find(p.host)
				s.code, s.err = v.runAt(ctx, f, h, p.args, in, streams)
			}
			s.at, s.text, s.said = f.Now().UTC(), out.Bytes(), said.Bytes()
			all[i] = s
		})
	}
	parts.Wait()
	for _, s := range all {
		_, _ = f.Streams.Err.Write(s.said)
		if s.err != nil {
			f.Report(ui.Failed(s.err, v.name))
		}
	}
	if err := printAll(f, all); err != nil {
		return ui.Failed(err, v.name)
	}
	return outcome(all)
}

// ended returns the error of a command, or one that has only its exit code.
func ended(err error, code int) error {
	if err == nil && code != 0 {
		return ui.ExitError(code)
	}
	return err
}

// runAt runs a command line at a host, with a text as its stdin; nil: none.
func (v *verb) runAt(ctx context.Context, f *ui.Factory, h host.Host, args []string, in []byte, streams ui.Streams) (int, error) {
	l, err := open(f, h)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	l.Tell = func(text string) {
		v.printing.Lock()
		defer v.printing.Unlock()
		f.Note("%s", text)
	}
	if v.all { // the caller's patience is the limit
		l.Limits = link.Limits{Contact: patience}
	}
	r := link.NewRequest(h, v.keeps(f.Powers), args...)
	r.Starts, r.Follow = link.Starts(v.name), v.follows()
	r.Width, r.Color = streams.Width, streams.Color
	said := &saidAt{host: h.Name, to: streams.Err}
	defer said.flush()
	of := link.Streams{Out: streams.Out, Err: said}
	if in != nil {
		of.In = bytes.NewReader(in)
	}
	code, err := l.Run(ctx, r, of)
	if theirs := l.Version(); code == int(fail.BadInput) && theirs != f.Version {
		fmt.Fprintf(streams.Err, "note: %s has nbs-worker %s, and this machine %s; to install this one there: nbs-worker host add %s %s --install\n",
			h.Name, human.Legible(theirs), f.Version, h.Name, human.ShellWord(h.Destination))
	}
	return code, err
}

// input reads stdin once, for all hosts, if the command line says that a text comes from there; nil: it does not.
func input(f *ui.Factory) ([]byte, error) {
	fromStdin := func(arg string) bool {
		return arg == "-" || strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "file=-")
	}
	if !slices.ContainsFunc(f.Args, fromStdin) {
		return nil, nil
	}
	const limit = 64 << 20 // bytes
	text, err := io.ReadAll(io.LimitReader(f.Streams.In, limit+1))
	if err == nil && len(text) > limit {
		err = fail.Errorf(fail.BadInput, "stdin has more than %d bytes", limit)
	}
	return append([]byte{}, text...), err
}

// open returns the link to a host, which says on a terminal what it waits for.
func open(f *ui.Factory, h host.Host) (*link.Link, error) {
	home, err := trust.HomeOf(os.Environ())
	if err != nil {
		return nil, err
	}
	l, err := link.Open(home, h, link.Usual)
	if err != nil {
		return nil, err
	}
	l.Tell = func(text string) { f.Note("%s", text) }
	return l, nil
}

// shared writes whole lines, so that those of several hosts do not mix.
type shared struct {
	mu   *sync.Mutex
	to   io.Writer
	line []byte
}

func (s *shared) Write(text []byte) (int, error) {
	s.line = append(s.line, text...)
	if end := strings.LastIndexByte(string(s.line), '\n'); end >= 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, err := s.to.Write(s.line[:end+1])
		s.line = slices.Clone(s.line[end+1:])
		return len(text), err
	}
	return len(text), nil
}

func (s *shared) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.to.Write(s.line)
	s.line = nil
}
