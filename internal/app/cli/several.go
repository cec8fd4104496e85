package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/turns"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/supervisor"
)

// selection is which agents a verb acts on, as typed.
type selection struct {
	handles []agent.Handle
	all     bool // all of the project
	down    bool // those that should run and do not
	yes     bool // skip the question

	stopped []agent.Handle // agents of the selection that a person has stopped
}

// positional checks the handles: at least one, or --all instead.
func (o *selection) positional(cmd *cobra.Command, args []string) error {
	o.handles = handlesOf(args)
	switch {
	case (o.all || o.down) && len(args) > 0:
		return fail.Errorf(fail.BadInput, "%s: handles and --all or --down exclude each other", cmd.Name())
	case o.all && o.down:
		return fail.Errorf(fail.BadInput, "%s: --all and --down exclude each other", cmd.Name())
	case o.all || o.down:
		return nil
	}
	return someHandles(cmd, args)
}

// String returns the selection as typed.
func (o *selection) String() string {
	switch {
	case o.all:
		return "--all"
	case o.down:
		return "--down"
	default:
		return strings.ReplaceAll(joined(o.handles), ",", "")
	}
}

// several reports whether the output is a list, of any length.
func (o *selection) several() bool { return o.all || o.down || len(o.handles) > 1 }

// resolve finds the handles. wanted filters those of --all.
func (o *selection) resolve(ctx context.Context, s *supervisor.Supervisor, wanted func(inspect.Row) bool) ([]agent.Handle, error) {
	if !o.all && !o.down {
		return o.handles, nil
	}
	rows, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	handles := []agent.Handle{}
	for _, row := range rows {
		if row.Record.Handle == "" || wanted(row) { // the verb reports an unreadable record
			handles = append(handles, row.Handle)
		}
		if row.Record.Handle != "" && row.Record.LaunchDesired() == agent.DesiredStopped && !row.Status.Running() {
			o.stopped = append(o.stopped, row.Handle)
		}
	}
	return handles, nil
}

// noteStopped names the agents that a verb leaves alone because a person has stopped them.
func (f *factory) noteStopped(o *selection) {
	if len(o.stopped) > 0 {
		f.sayNote("left as they were stopped: " + joined(o.stopped))
		f.hintBack(o.stopped)
	}
}

// hintBack prints how to resume stopped agents.
func (f *factory) hintBack(handles []agent.Handle) {
	f.hint("to bring them back: nbs-worker resume %s", strings.ReplaceAll(joined(handles), ",", ""))
}

// confirm asks a person before many agents are dismissed.
func (o *selection) confirm(f *factory, verb string, handles []agent.Handle) error {
	if !o.all || o.yes || len(handles) == 0 {
		return nil
	}
	if !f.streams.InTTY || !f.streams.ErrTTY {
		return fail.Errorf(fail.BadInput, "%s --all is for %s; nobody was asked whether that is meant", verb, human.Count(len(handles), "agent")).
			Hint("if it is: nbs-worker %s --all --yes", verb)
	}
	if !f.confirmed(fmt.Sprintf("%s %s? [y/N] ", verb, joined(handles))) {
		return fail.Errorf(fail.Interrupted, "nothing was changed")
	}
	return nil
}

// handlesOf returns checked handles, each once.
func handlesOf(args []string) []agent.Handle {
	var handles []agent.Handle
	for _, arg := range args {
		if handle := agent.Handle(arg); !slices.ContainsFunc(handles, handle.Same) {
			handles = append(handles, handle)
		}
	}
	return handles
}

func joined(handles []agent.Handle) string {
	return strings.Join(agent.Mapped(handles, func(handle agent.Handle) string { return string(handle) }), ", ")
}

// outcome is the result of a verb for one agent; the zero value prints nothing. With an error, it holds what is known
// in spite of it.
type outcome struct {
	json   any // for programs
	handle agent.Handle
	words  string       // for people, after the handle; scripts get only the handle
	print  func() error // replaces both, for output of more than a line
}

// atOnce returns how many agents are started or ended at a time.
func atOnce() int { return turns.AtOnce() }

// each does one thing to several agents, at most atOnce at a time. A failure does not stop the others. Each result is
// printed when it is there. JSON is printed at the end, in the order of the handles, as an array even for one. After an
// interrupt nothing new is started.
func (f *factory) each(ctx context.Context, verb string, handles []agent.Handle, several bool, atOnce int, do func(agent.Handle) (outcome, error)) error {
	f.handles = handles
	if !several && !f.json {
		made, err := do(handles[0])
		if made.json != nil {
			err = errors.Join(f.showOne(made), err)
		}
		return failed(err, verb, string(handles[0]))
	}
	return f.eachOf(ctx, verb, handles, atOnce, do)
}

func (f *factory) eachOf(ctx context.Context, verb string, handles []agent.Handle, atOnce int, do func(agent.Handle) (outcome, error)) error {
	all, sum, done := make([]any, len(handles)), partial{of: len(handles)}, 0
	var taking sync.Mutex
	take := func(i int, made outcome, err error) {
		taking.Lock()
		defer taking.Unlock()
		done++
		if made.json != nil && !f.json {
			err = errors.Join(f.show(made, fmt.Sprintf(" (%d of %d)", done, len(handles))), err)
		}
		all[i] = made.json
		if err = failed(err, verb, string(handles[i])); err == nil {
			return
		}
		f.printError(handles[i], err)
		sum.failures = append(sum.failures, err)
		if made.json == nil {
			all[i] = f.failure(handles[i], err)
		}
	}
	var workers sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for i, handle := range handles {
		turns <- struct{}{}
		workers.Go(func() {
			if ctx.Err() != nil {
				take(i, outcome{}, fail.Errorf(fail.Interrupted, "interrupted; nothing was begun"))
			} else {
				made, err := do(handle)
				take(i, made, err)
			}
			<-turns
		})
	}
	workers.Wait()
	if f.json {
		if err := f.printJSON(all); err != nil {
			return failed(err, verb)
		}
	}
	return sum.failed()
}

// showOne prints the result of a verb for one agent.
func (f *factory) showOne(made outcome) error {
	if f.json {
		return f.printJSON(made.json)
	}
	return f.show(made, "")
}

// show prints the result for an agent: its handle for a script, one line with it for a person.
func (f *factory) show(made outcome, progress string) error {
	if made.print != nil {
		return made.print()
	}
	line := fmt.Sprintf("%s: %s%s", made.handle, made.words, progress)
	if !f.streams.OutTTY {
		f.note("%s", line)
		line = string(made.handle)
	}
	_, err := fmt.Fprintln(f.streams.Out, human.Legible(line))
	return err
}

// oneHandle and someHandles check the positional arguments of a verb. An invalid handle is refused before anything is
// opened.
func oneHandle(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fail.Errorf(fail.BadInput, "%s: one handle is needed, %d given", cmd.Name(), len(args)).
			Hint("%s --help", cmd.CommandPath())
	}
	return someHandles(cmd, args)
}

func someHandles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fail.Errorf(fail.BadInput, "%s: a handle is needed", cmd.Name()).
			Hint("to see the agents: nbs-worker list")
	}
	for _, arg := range args {
		if _, err := agent.ParseHandle(arg); err != nil {
			return fail.Errorf(fail.BadInput, "%s: %w", cmd.Name(), err)
		}
	}
	return nil
}
