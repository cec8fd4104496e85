package ui

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
	"nbs-worker/internal/team/teamfile"
)

// Confirm asks a person at a terminal, and returns the refusal unless the answer is yes. Input typed before the question is
// discarded. Errors: Interrupted by a signal.
func (f *Factory) Confirm(ctx context.Context, question string, refusal error) error {
	yes, err := f.Dialog().Yes(ctx, question)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(f.Streams.Err)
		return fail.Errorf(fail.Interrupted, "interrupted; nothing was changed")
	case err != nil || !yes: // the end of the input means no
		return refusal
	}
	return nil
}

// Selection is which agents a verb acts on, as typed.
type Selection struct {
	Handles []agent.Handle
	Groups  []string // of the team file, without the @
	All     bool     // all of the project
	Down    bool     // those that should run and do not
	Yes     bool     // skip the question

	stopped []agent.Handle // agents of the selection that a person has stopped
}

// Positional checks the handles and groups: at least one, or --all instead.
func (o *Selection) Positional(cmd *cobra.Command, args []string) error {
	var handles []string
	o.Groups = nil
	for _, arg := range args {
		if group, is := strings.CutPrefix(arg, "@"); is {
			o.Groups = append(o.Groups, group)
		} else {
			handles = append(handles, arg)
		}
	}
	o.Handles = HandlesOf(handles)
	switch {
	case (o.All || o.Down) && len(args) > 0:
		return fail.Errorf(fail.BadInput, "%s: handles and --all or --down exclude each other", cmd.Name())
	case o.All && o.Down:
		return fail.Errorf(fail.BadInput, "%s: --all and --down exclude each other", cmd.Name())
	case o.All || o.Down:
		return nil
	case len(o.Groups) > 0 && len(handles) == 0:
		return nil
	}
	return SomeHandles(cmd, handles)
}

// Optional checks the handles and groups. Without any, the verb acts on all agents.
func (o *Selection) Optional(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return o.Positional(cmd, args)
}

// String returns the selection as typed.
func (o *Selection) String() string {
	switch {
	case o.All:
		return "--all"
	case o.Down:
		return "--down"
	default:
		words := agent.Mapped(o.Handles, func(handle agent.Handle) string { return string(handle) })
		for _, group := range o.Groups {
			words = append(words, "@"+group)
		}
		return strings.Join(words, " ")
	}
}

// Several reports whether the output is a list, of any length.
func (o *Selection) Several() bool { return o.All || o.Down || len(o.Handles) > 1 || len(o.Groups) > 0 }

// Named returns the named agents, with those of the named groups of the project's team file. The file must be allowed:
// otherwise it could have a command act on other agents than its user means. Errors: NotFound; BadInput; Held.
func (o *Selection) Named(s *supervisor.Supervisor) ([]agent.Handle, error) {
	if len(o.Groups) == 0 {
		return o.Handles, nil
	}
	source, err := teamfile.Open(s.Project.Store.Project(), "")
	if err == nil {
		err = source.Check(s.Project.Store.Allowed().Check)
	}
	if err != nil {
		return nil, err
	}
	handles := slices.Clone(o.Handles)
	for _, group := range o.Groups {
		members, err := source.File.Members(group)
		if err != nil {
			return nil, err
		}
		for _, handle := range members {
			if !slices.ContainsFunc(handles, handle.Same) {
				handles = append(handles, handle)
			}
		}
	}
	return handles, nil
}

// Resolve finds the handles. wanted filters those of --all.
func (o *Selection) Resolve(ctx context.Context, s *supervisor.Supervisor, wanted func(inspect.Row) bool) ([]agent.Handle, error) {
	if !o.All && !o.Down {
		return o.Named(s)
	}
	rows, err := s.Inspector.List(ctx)
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

// NoteStopped names the agents that a verb leaves alone because a person has stopped them.
func (f *Factory) NoteStopped(o *Selection) {
	if len(o.stopped) > 0 {
		f.SayNote("still stopped: " + Joined(o.stopped))
		f.HintBack(o.stopped)
	}
}

// HintBack prints how to resume stopped agents.
func (f *Factory) HintBack(handles []agent.Handle) {
	f.Hint("to bring them back: nbs-worker resume %s", strings.ReplaceAll(Joined(handles), ",", ""))
}

// Confirm asks a person before many agents are dismissed.
func (o *Selection) Confirm(ctx context.Context, f *Factory, verb string, handles []agent.Handle) error {
	if !o.All || o.Yes || len(handles) == 0 {
		return nil
	}
	if !f.Streams.InTTY || !f.Streams.ErrTTY {
		return fail.Errorf(fail.BadInput, "--all would %s %s; confirm with --yes (no terminal to ask on)", verb, human.Count(len(handles), "agent")).
			Hint("to confirm: nbs-worker %s --all --yes", verb)
	}
	return f.Confirm(ctx, fmt.Sprintf("%s %s? [y/N] ", verb, Joined(handles)), fail.Errorf(fail.Interrupted, "nothing was changed"))
}

// HandlesOf returns checked handles, each once.
func HandlesOf(args []string) []agent.Handle {
	var handles []agent.Handle
	for _, arg := range args {
		if handle := agent.Handle(arg); !slices.ContainsFunc(handles, handle.Same) {
			handles = append(handles, handle)
		}
	}
	return handles
}

// Joined lists handles in a sentence.
func Joined(handles []agent.Handle) string {
	return strings.Join(agent.Mapped(handles, func(handle agent.Handle) string { return string(handle) }), ", ")
}

// Outcome is the result of a verb for one agent; the zero value prints nothing. With an error, it holds what is known
// in spite of it.
type Outcome struct {
	JSON   any // for programs
	Handle agent.Handle
	Words  string       // for people, after the handle; scripts get only the handle
	Print  func() error // replaces both, for output of more than a line
}

// AtOnce returns how many agents are started or ended at a time.
func AtOnce() int { return turns.AtOnce() }

// Each does one thing to several agents, at most atOnce at a time. A failure does not stop the others. Each result is
// printed when it is there. JSON is printed at the end, in the order of the handles, as an array even for one. After an
// interrupt nothing new is started.
func (f *Factory) Each(ctx context.Context, verb string, handles []agent.Handle, several bool, atOnce int, do func(agent.Handle) (Outcome, error)) error {
	if !several && !f.JSON {
		made, err := do(handles[0])
		if made.JSON != nil {
			err = errors.Join(f.ShowOne(made), err)
		}
		return Failed(err, verb, string(handles[0]))
	}
	return f.eachOf(ctx, verb, handles, atOnce, do)
}

func (f *Factory) eachOf(ctx context.Context, verb string, handles []agent.Handle, atOnce int, do func(agent.Handle) (Outcome, error)) error {
	all, sum, done := make([]any, len(handles)), Partial{Of: len(handles)}, 0
	var taking sync.Mutex
	take := func(i int, made Outcome, err error) {
		taking.Lock()
		defer taking.Unlock()
		done++
		if made.JSON != nil && !f.JSON {
			err = errors.Join(f.Show(made, fmt.Sprintf(" (%d of %d)", done, len(handles))), err)
		}
		all[i] = made.JSON
		if err = Failed(err, verb, string(handles[i])); err == nil {
			return
		}
		f.PrintError(handles[i], err)
		sum.Failures = append(sum.Failures, err)
		if made.JSON == nil {
			all[i] = f.FailureOf(handles[i], err)
		}
	}
	var workers sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for i, handle := range handles {
		turns <- struct{}{}
		workers.Go(func() {
			if ctx.Err() != nil {
				take(i, Outcome{}, fail.Errorf(fail.Interrupted, "interrupted; not started"))
			} else {
				made, err := do(handle)
				take(i, made, err)
			}
			<-turns
		})
	}
	workers.Wait()
	if f.JSON {
		if err := f.PrintJSON(all); err != nil {
			return Failed(err, verb)
		}
	}
	return sum.Failed()
}

// ShowOne prints the result of a verb for one agent.
func (f *Factory) ShowOne(made Outcome) error {
	if f.JSON {
		return f.PrintJSON(made.JSON)
	}
	return f.Show(made, "")
}

// Show prints the result for an agent: its handle for a script, one line with it for a person. The handle has the host, as
// the person types it.
func (f *Factory) Show(made Outcome, progress string) error {
	if made.Print != nil {
		return made.Print()
	}
	name := string(made.Handle)
	if f.Streams.Host != "" {
		name += "@" + f.Streams.Host
	}
	line := name + ": " + made.Words + progress
	if !f.Streams.OutTTY {
		f.Note("%s", line)
		line = name
	}
	line = human.Legible(line)
	if f.Streams.OutTTY {
		const indent = 4
		line = Hanging(line, indent, f.Streams.Width)
	}
	_, err := fmt.Fprintln(f.Streams.Out, line)
	return err
}

// OneHandle checks the positional arguments of a verb that takes one handle. An invalid handle is refused before
// anything is opened.
func OneHandle(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fail.Errorf(fail.BadInput, "%s: one handle is needed, %d given", cmd.Name(), len(args)).
			Hint("%s --help", cmd.CommandPath())
	}
	return SomeHandles(cmd, args)
}

// SomeHandles checks the positional arguments of a verb that takes several handles.
func SomeHandles(cmd *cobra.Command, args []string) error {
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
