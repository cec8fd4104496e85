package hosts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/views"
)

// patience is how long one host is waited for, by a command that asks all.
const patience = 10 * time.Second

// shown is what a command shows at one place.
type shown struct {
	host string // "": this machine
	code int
	err  error // it did not run to its end
	at   time.Time
	text []byte // of stdout
	said []byte // of stderr
}

// everywhere runs a command that shows something, here and at all hosts, and prints what each shows as it comes.
func (v *verb) everywhere(ctx context.Context, f *ui.Factory) error {
	f.JSON = v.json()
	all, err := v.ask(ctx, f, withoutHost(f.Args), func(s shown) {
		if !f.JSON {
			printShown(f, s)
		}
	})
	if err == nil && f.JSON {
		err = printAll(f, all)
	}
	if err != nil {
		return err
	}
	if projects := slices.DeleteFunc(slices.Clone(all), shown.hasNoProject); len(projects) > 0 {
		all = projects // a host without a project has answered
	}
	return outcome(all)
}

// ask runs a command line that shows something, here and at all hosts, and calls came with what each shows as it comes.
func (v *verb) ask(ctx context.Context, f *ui.Factory, args []string, came func(shown)) (all []shown, err error) {
	if err := v.permitted(f, nil); err != nil {
		return nil, err
	}
	known, err := host.Load(os.Environ())
	switch {
	case err != nil:
		return nil, err
	case v.keeps(f.Powers):
		return nil, fail.Errorf(fail.BadInput, "--hosts is for commands that show something").
			Hint("name the host: nbs-worker --host NAME %s", v.name)
	case v.follows():
		return nil, fail.Errorf(fail.BadInput, "--hosts is for a look, and this command goes on").
			Hint("for all agents on one screen: nbs-worker dash --hosts").
			Hint("at one host: nbs-worker --host NAME %s", strings.Join(args, " "))
	case len(known) == 0:
		return nil, fail.Errorf(fail.NotFound, "you have no hosts").Hint("to add one: nbs-worker host add NAME DESTINATION")
	}
	home, err := trust.HomeOf(os.Environ())
	if err != nil {
		return nil, err
	}
	answers := make(chan shown)
	var looks sync.WaitGroup
	looks.Go(func() { answers <- v.here(ctx, f, args) })
	for _, h := range known {
		looks.Go(func() { answers <- v.there(ctx, f, home, h, args) })
	}
	go func() { looks.Wait(); close(answers) }()
	for s := range answers {
		if s.host == "" && fail.Kind(s.code) == fail.NotFound && len(s.text) == 0 {
			continue // this folder has no project
		}
		all = append(all, s)
		v.printing.Lock()
		came(s)
		v.printing.Unlock()
	}
	return all, nil
}

// here runs the command at this machine.
func (v *verb) here(ctx context.Context, f *ui.Factory, args []string) shown {
	var out, said bytes.Buffer
	streams := f.Streams
	streams.Out, streams.Err = &out, &said
	code := f.Execute(ctx, args, streams)
	return shown{code: code, at: f.Now(), text: out.Bytes(), said: said.Bytes()}
}

// there runs the command at a host. If that does not answer, the result is what it last showed.
func (v *verb) there(ctx context.Context, f *ui.Factory, home trust.Home, h host.Host, args []string) shown {
	limited, leave := context.WithTimeout(ctx, patience)
	defer leave()
	var out, said bytes.Buffer
	streams := f.Streams
	streams.Out, streams.Err = &out, &said
	s := shown{host: h.Name}
	s.code, s.err = v.runAt(limited, f, h, args, nil, streams)
	last := views.Of(home, h.Name, h.Place())
	if s.isUnreachable() {
		view := last.Last(form(args, streams))
		s.at, s.text = view.At, []byte(view.Text)
		return s
	}
	s.at, s.text, s.said = f.Now().UTC(), out.Bytes(), said.Bytes()
	if s.err == nil && s.code == 0 {
		_ = last.Keep(form(args, streams), views.View{At: s.at, Text: out.String()}) // the next look has no older one then
	}
	return s
}

// form names what a command shows: on a terminal that is another text than in a pipe.
func form(args []string, to ui.Streams) []string {
	if to.Width == 0 {
		return args
	}
	return append([]string{"on a terminal"}, args...)
}

// hasNoProject reports whether the host has said that there is no project in its folder yet.
func (s shown) hasNoProject() bool {
	return s.err == nil && fail.Kind(s.code) == fail.NotFound && strings.Contains(link.ReadComplaint(s.code, string(s.said)).What, "no .nbs folder")
}

// isUnreachable reports whether the host did not answer.
func (s *shown) isUnreachable() bool {
	_, is := errors.AsType[*link.Unreachable](s.err)
	return is || errors.Is(s.err, context.DeadlineExceeded)
}

// trouble says that a host did not answer, or what is wrong there.
func (s *shown) trouble() string {
	if s.isUnreachable() {
		return s.host + " is unreachable: " + reason(s.err)
	}
	return s.host + ": " + s.err.Error()
}

// printShown prints what a place shows: on a terminal below its name, in a pipe with the name before each line.
func printShown(f *ui.Factory, s shown) {
	defer func() { _, _ = f.Streams.Err.Write(s.said) }()
	title := cmp.Or(s.host, here)
	if !f.Streams.OutTTY {
		if s.err != nil {
			trouble := s.trouble()
			if s.isUnreachable() && !s.at.IsZero() {
				trouble += "; its rows are as of " + s.at.UTC().Format(time.RFC3339)
			}
			f.Say("%s", trouble)
		}
		for line := range strings.Lines(string(s.text)) {
			fmt.Fprint(f.Streams.Out, title+"\t"+line)
		}
		return
	}
	if s.err != nil {
		title = s.trouble()
		if s.isUnreachable() && !s.at.IsZero() {
			title += "; as it was " + human.Ago(s.at, f.Now())
		}
	}
	fmt.Fprintln(f.Streams.Out, f.Coloured(ui.Bold, ui.OneLine(title)))
	_, _ = f.Streams.Out.Write(s.text)
}

// reason returns why a host did not answer, in a few words.
func reason(err error) string {
	if un, is := errors.AsType[*link.Unreachable](err); is {
		return un.Words()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "it did not answer within " + patience.String()
	}
	return err.Error()
}

// printAll prints what all places show as JSON, by name.
func printAll(f *ui.Factory, all []shown) error {
	slices.SortFunc(all, func(a, b shown) int { return strings.Compare(a.host, b.host) })
	out := wire.AtHosts{Hosts: []wire.AtHost{}}
	for _, s := range all {
		one := wire.AtHost{Host: cmp.Or(s.host, here), Unreachable: s.isUnreachable()}
		if s.err != nil {
			one.Error = reason(s.err)
		} else {
			one.ExitCode = &s.code
		}
		if text := bytes.TrimSpace(s.text); json.Valid(text) {
			one.Result, one.AsOf = text, &s.at
		}
		out.Hosts = append(out.Hosts, one)
	}
	return f.PrintJSON(out)
}

// outcome returns the exit code that all places share, or Partial.
func outcome(all []shown) error {
	codes := map[int]bool{}
	for _, s := range all {
		if s.err != nil {
			s.code = int(fail.KindOf(s.err))
		}
		if errors.Is(s.err, context.DeadlineExceeded) {
			s.code = int(fail.TimedOut)
		}
		codes[s.code] = true
	}
	if codes[int(fail.Interrupted)] {
		return ui.ExitError(fail.Interrupted)
	}
	if len(codes) > 1 {
		return ui.ExitError(fail.Partial)
	}
	for code := range codes {
		return ended(nil, code)
	}
	return nil
}
