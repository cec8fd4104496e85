// Package inspect looks at agents for people and programs: one closely, all in a list, the screen
// of one. What it finds is what package observe finds, and what the transcript says besides.
//
// A look takes no verb lock and changes no agent. It keeps the transcript that it has seen, where
// the record is allowed.
package inspect

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/keep"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store/archive"
)

// Inspector looks at the agents of one project.
type Inspector struct{ keep.Keeper }

// View is an agent as recorded and as observed.
type View struct {
	observe.Sight // its Err: why tmux could not be asked; the rest is known all the same

	Transcript *transcript.File  // nil: none on disk
	Kept       archive.Freshness // whether the archive has it too
	Unkept     error             // why it has not
	Context    *agent.ContextUse // nil: unknown
	Cost       *agent.Cost       // nil: unknown
	Usage      *proc.Usage       // nil: it does not run
	Drift      []observe.Drift
	Strangers  []observe.Stranger
	LastError  *LastError // nil: the last turn went well, or there was none

	// Of a survey alone.
	Gone   Gone    // of one that does not run
	Growth *Growth // nil: it does not run
}

// Inspect looks at one agent closely.
func (i *Inspector) Inspect(ctx context.Context, handle agent.Handle) (View, error) {
	r, err := i.Store.Load(handle)
	if err != nil {
		return View{}, err
	}
	var view View
	var strangersErr, transcriptErr error
	var others, all sync.WaitGroup // none of these waits for another
	before := r
	others.Go(func() { // while tmux is asked
		view.Strangers, strangersErr = i.VisibleStrangers(&before)
		view.Usage = usageOf(before.Process)
	})
	view.Sight = i.LookAt(ctx, r)
	others.Wait()
	if agent.KindOf(view.Err) == agent.NotFound {
		return View{}, view.Err // it was dismissed meanwhile
	}
	r = view.Record
	if r.SessionID != before.SessionID || !observe.SameStart(r.Process, before.Process) {
		all.Go(func() { view.Strangers, strangersErr = i.VisibleStrangers(&r) })
	}
	all.Go(func() {
		if transcriptErr = i.AddTranscript(&view); transcriptErr == nil {
			view.Kept, view.Unkept = i.KeepSeen(ctx, &r, view.Transcript, view.NotAllowed == nil)
			view.LastError = lastError(view.Report, view.Transcript)
		}
	})
	if !view.Status.SamePID {
		view.Usage = nil
	} else {
		if view.Usage == nil || before.Process.Identity != r.Process.Identity { // it came meanwhile
			view.Usage = new(proc.UsageOf(r.Process.PID))
		}
		// A process that ends during the comparison has no drift; its end shows next time.
		view.Drift, _ = i.DriftOf(&r)
	}
	all.Wait()
	return view, cmp.Or(transcriptErr, strangersErr)
}

// usageOf is what a start's processes use of the machine; nil when it does not run.
func usageOf(p *agent.Process) *proc.Usage {
	if p == nil || !proc.IsAlive(p.Identity) {
		return nil
	}
	return new(proc.UsageOf(p.PID))
}

// AddTranscript adds what the transcript says to a look: how full the conversation is, its cost.
func (i *Inspector) AddTranscript(view *View) error {
	config, err := i.ConfigOf(&view.Record)
	if err != nil {
		return err
	}
	var level transcript.Level
	file, found, err := config.Transcript(view.Record.SessionID)
	if err == nil && found {
		view.Transcript = &file
		if level, err = file.Context(view.Record.Model); err != nil {
			err = fmt.Errorf("read the transcript: %w", err)
		}
	}
	gauge := view.Record.GaugeOf(view.Report)
	view.Context, view.Cost = contextOf(gauge, level), costOf(gauge, level)
	return err
}

// Attach replaces this process by the agent's terminal.
func (i *Inspector) Attach(ctx context.Context, handle agent.Handle) error {
	r, err := i.Store.Load(handle)
	if err != nil {
		return err
	}
	sight := i.LookAt(ctx, r)
	switch {
	case sight.Err != nil:
		return sight.Err
	case sight.Status.Down():
		return agent.Errorf(agent.NotFound, "the agent does not run: %s", sight.Status.Word()).
			Hint("nbs-worker resume %s", handle)
	case sight.Pane != nil:
		client, err := i.Client(&sight.Record)
		if err != nil {
			return err
		}
		return client.Attach(sight.Record.Process.Tmux.Path, sight.Pane.ID)
	case sight.Status.SamePID:
		return agent.Errorf(agent.Conflict, "%s, and there is nothing to attach to", i.Whereabouts(&sight.Record)).
			Hint("go to that terminal; or move the agent into tmux, which ends it and starts it anew: nbs-worker resume %s --force", handle)
	default:
		return agent.Errorf(agent.Conflict, "the agent is just being started").Hint("nbs-worker session %s", handle)
	}
}
