// Package inspect looks at agents for people and programs: at one agent closely, at all in a list, at the screen of
// one. It combines what package observe finds with what the transcript says.
//
// A look takes no verb lock and changes no agent. If the record is allowed, it keeps the transcript that it has
// seen.
package inspect

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/observe"
)

// Inspector looks at the agents of one project.
type Inspector struct {
	Project *observe.Project
	Keeper  *keep.Keeper
}

// New returns the inspector of a project.
func New(project *observe.Project) *Inspector {
	return &Inspector{Project: project, Keeper: &keep.Keeper{Project: project}}
}

// View is an agent as recorded and as observed.
type View struct {
	observe.Sight // if its Err says that tmux could not be asked, the rest is still known

	Transcript *transcript.File  // nil: none on disk
	Kept       archive.Freshness // of the copy in the archive
	Unkept     error             // why the archive has no current copy
	Context    *agent.ContextUse // nil: unknown
	Cost       *agent.Cost       // nil: unknown
	Usage      *machine.Usage    // nil: it does not run
	Drift      []observe.Drift
	Strangers  []observe.Stranger
	LastError  *LastError // nil: the last turn succeeded, or there was no turn
	Requested  bool       // a hook of it waits for the answer to what it asks
	HooksOff   string     // why its claude runs no hooks; "": it runs them

	// Only set by a survey.
	Gone   Gone    // of an agent that does not run
	Growth *Growth // nil: it does not run
	Draft  *Draft  // in its prompt, which blocks messages or was typed by nbs-worker; nil: no such draft
}

// Inspect looks at one agent closely.
func (i *Inspector) Inspect(ctx context.Context, handle agent.Handle) (View, error) {
	before, err := i.Project.Store.Load(handle)
	if err != nil {
		return View{}, err
	}
	var strangers []observe.Stranger
	var strangersErr error
	var beside sync.WaitGroup // tmux takes its time
	beside.Go(func() { strangers, strangersErr = i.Project.VisibleStrangers(&before) })
	view := View{Sight: i.Project.LookClosely(ctx, []agent.Record{before})[0]}
	beside.Wait()
	if fail.KindOf(view.Err) == fail.NotFound {
		return View{}, view.Err // it was just dismissed
	}
	r := &view.Record
	if r.SessionID != before.SessionID || identityOf(r) != identityOf(&before) {
		strangers, strangersErr = i.Project.VisibleStrangers(r)
	}
	view.Strangers = strangers
	view.Requested = view.Status.State == agent.Waiting && i.Project.IsRequested(r.Handle)
	view.HooksOff = i.Project.HooksOff(r)
	if view.Status.SamePID {
		view.Usage = i.usageOf(r.Process)
		view.Drift = i.Project.DriftIn(&view.Sight)
	}
	transcriptErr := i.AddTranscript(&view)
	if transcriptErr == nil {
		view.Kept, view.Unkept = i.Keeper.KeepSeen(ctx, r, view.Transcript, view.NotAllowed == nil)
		view.LastError = lastError(view.Report, view.Transcript)
	}
	return view, cmp.Or(transcriptErr, strangersErr)
}

func identityOf(r *agent.Record) agent.Identity {
	if r.Process == nil {
		return agent.Identity{}
	}
	return r.Process.Identity
}

// usageOf returns what a start's processes use of the machine; nil if the start does not run.
func (i *Inspector) usageOf(p *agent.Process) *machine.Usage {
	if p == nil || !i.Project.Machine.IsAlive(p.Identity) {
		return nil
	}
	return new(i.Project.Machine.UsageOf(p.PID))
}

// AddTranscript adds to a look what the transcript says: how full the conversation is, and its cost.
func (i *Inspector) AddTranscript(view *View) error {
	gauge := view.Record.GaugeOf(view.Report)
	file, level, err := i.transcriptOf(&view.Record)
	view.Transcript, view.Context, view.Cost = file, contextOf(gauge, level), costOf(gauge, level)
	return err
}

// transcriptOf finds the transcript of a record's conversation, and reads how full it is. It returns nil if there is
// no transcript.
func (i *Inspector) transcriptOf(r *agent.Record) (*transcript.File, transcript.Level, error) {
	config, err := i.Project.ConfigOf(r)
	if err != nil {
		return nil, transcript.Level{}, err
	}
	file, found, err := config.Transcript(r.SessionID)
	if err != nil || !found {
		return nil, transcript.Level{}, err
	}
	level, err := file.Context(r.Model)
	if err != nil {
		return &file, transcript.Level{}, fmt.Errorf("read the transcript: %w", err)
	}
	return &file, level, nil
}

// Attach replaces this process by the agent's terminal.
func (i *Inspector) Attach(ctx context.Context, handle agent.Handle) error {
	return i.goTo(ctx, handle, (*tmux.Client).Attach)
}

// MoveTo is Attach for a person who stays there: a tmux client of another server leaves it.
func (i *Inspector) MoveTo(ctx context.Context, handle agent.Handle) error {
	return i.goTo(ctx, handle, (*tmux.Client).MoveTo)
}

func (i *Inspector) goTo(ctx context.Context, handle agent.Handle, show func(c *tmux.Client, socketPath, paneID string) error) error {
	r, err := i.Project.Store.Load(handle)
	if err != nil {
		return err
	}
	sight := i.Project.LookAt(ctx, r)
	switch job := sight.Job; {
	case sight.Err != nil:
		return sight.Err
	case job != nil && job.Err == nil && job.Waits():
		return fail.Errorf(fail.NotFound, "the agent does not run: %s", sight.Status.Word()).
			Hint("to see when it may begin: squeue --start -j %s", job.ID)
	case i.Project.JobElsewhere(&sight) != nil:
		return i.Project.Slurm().Show(job.Job, i.Project.Program, "--root", i.Project.Store.Project(), "attach", string(handle))
	case sight.Status.Down():
		return fail.Errorf(fail.NotFound, "the agent does not run: %s", sight.Status.Word()).
			Hint("nbs-worker resume %s", handle)
	case sight.Pane != nil:
		client, err := i.Project.Client(&sight.Record)
		if err != nil {
			return err
		}
		_ = i.Project.Store.Seen().Mark(ctx, i.Project.Now(), handle) // otherwise its need is shown once more
		return show(client, sight.Record.Process.Tmux.Path, sight.Pane.ID)
	case sight.Status.SamePID:
		return fail.Errorf(fail.Conflict, "%s; it has no tmux pane to attach to", i.Whereabouts(&sight.Record)).
			Hint("go to that terminal; or end the agent and restart it in tmux: nbs-worker resume %s --force", handle)
	default:
		return i.Project.HintJob(errNoTerminal(handle, sight.Status), &sight.Record, "attach")
	}
}

// Whereabouts says where an agent runs that has no pane of ours.
func (i *Inspector) Whereabouts(r *agent.Record) string {
	if terminal := i.Project.Machine.Terminal(r.Process.PID); terminal != "" {
		return "it runs in the terminal " + terminal
	}
	return fmt.Sprintf("it runs as pid %d, without a terminal", r.Process.PID)
}

// errNoTerminal returns the error for an agent that may run, but whose terminal was not found.
func errNoTerminal(handle agent.Handle, status agent.Status) *fail.Error {
	err := fail.Errorf(fail.Conflict, "the agent is being started")
	if status.State != agent.Starting {
		state, detail := status.Words()
		err = fail.Errorf(fail.Conflict, "find the agent's terminal: the agent's state is %s", strings.TrimSuffix(state+", "+detail, ", "))
	}
	return err.Hint("nbs-worker session %s", handle)
}
