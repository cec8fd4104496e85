package observe

import (
	"context"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/parallel"
	"nbs-worker/internal/platform/tmux"
)

// Sight is what was seen of one agent.
type Sight struct {
	Record agent.Record // as it is now, unless Lost
	Lost   bool         // the record could not be read again, and is as it was before the look
	Status agent.Status
	Dialog screen.Dialog // where a running agent waits, or ""
	Asked  *agent.Asked  // the dialog's question; nil: no question, or the screen does not show it
	Report agent.Report  // what its hooks said in this start; empty: nothing
	Done   bool          // the last turn of this start ended well
	Model  agent.Model   // that it runs; "": it is not known. The record has the model for the next start
	// WorksIn is the folder of its session, if that is not the recorded one. DriftOf reports whether the session has
	// moved there by itself.
	WorksIn string

	// Unsaved is the reason why its conversation is not saved, as far as that shows; "" if it is saved. Only a close
	// look sets it.
	Unsaved string

	Spending *agent.Spending // of an agent with a budget; nil: it has none, or what it has spent cannot be read

	Pane *tmux.Pane // nil: it has none, or tmux did not answer
	Job  *Job       // of Slurm, in which it runs or waits, as seen from outside of it; nil: none

	// NotAllowed is the reason why nothing may be started from the record; nil if the record has the user's seal. An
	// error of another kind than Held means that this could not be determined.
	NotAllowed error

	private bool // the caller may not see what is said

	// Err is the reason why the look is not complete: the record was removed or damaged during the look, or its tmux
	// server did not answer. In the latter case everything else is known.
	Err error
}

// Background returns how many tasks the last turn of a running agent has left running: shells, subagents.
func (s *Sight) Background() int {
	if s.Status.SamePID || s.Status.Source == agent.FromHooks { // also on another node
		return s.Report.Background
	}
	return 0
}

// TmuxSession returns the name of the agent's tmux session. A person may have renamed the session of its start, or
// moved its pane to another. Without a pane, it returns the recorded name.
func (s *Sight) TmuxSession() string {
	if s.Pane != nil && s.Pane.Session != "" {
		return s.Pane.Session
	}
	return s.Record.TmuxSession
}

// IsNotAllowed reports whether the record is known to lack the user's seal.
func (s *Sight) IsNotAllowed() bool { return fail.KindOf(s.NotAllowed) == fail.Held }

// endPatience is how long a look waits in total for the ends that it sees to be recorded. The launcher of a dead
// claude reads the screen and records the exit within some milliseconds.
const endPatience = time.Second

// Look looks at agents with one call to each tmux server, and a second call if only a screen can show the state. The
// caller has just read the records.
func (o *Project) Look(ctx context.Context, records []agent.Record) []Sight {
	return o.look(ctx, records, false)
}

// LookClosely is [Project.Look] that also reads each screen, and checks whether transcripts can be written.
func (o *Project) LookClosely(ctx context.Context, records []agent.Record) []Sight {
	return o.look(ctx, records, true)
}

func (o *Project) look(ctx context.Context, records []agent.Record, closely bool) []Sight {
	l := &round{Project: o, closely: closely, deadline: time.Now().Add(endPatience), agents: make([]subject, len(records))}
	for i, r := range records {
		l.agents[i] = subject{record: r}
	}
	answers := l.ask(ctx, l.all()) // runs while the processes are read
	l.askJobs(ctx, records)
	l.all().each(func(a *subject) { l.lookAt(ctx, a) })
	l.tell(answers(), l.all())
	// Ask again for an agent that started or ended between the two.
	unlike := l.all().where(func(a *subject) bool { return !a.isOfOneMoment() })
	l.tell(l.ask(ctx, unlike)(), unlike)
	went := unlike.where(func(a *subject) bool { return a.evidence.Claude == machine.Alive && a.evidence.Pane == PaneAbsent })
	went.each(func(a *subject) { l.lookAt(ctx, a) })
	l.readScreens(ctx)
	sights := make([]Sight, len(l.agents))
	parallel.Each(len(sights), func(i int) { sights[i] = l.sightOf(&l.agents[i]) })
	return sights
}

// sightOf sums up what was seen of an agent.
func (l *round) sightOf(a *subject) Sight {
	s := a.sight()
	s.Model, s.Spending = l.modelOf(&s), l.spendingOf(&s.Record)
	if !s.Lost && a.evidence.Claude == machine.Alive {
		s.WorksIn = l.worksIn(&s.Record, a.evidence.Entry)
	}
	if l.Outside {
		s.Asked, s.private = nil, true
	}
	if l.closely {
		s.Unsaved = l.unsaved(a)
	}
	return s
}

// LookAt is [Project.Look] at one agent.
func (o *Project) LookAt(ctx context.Context, r agent.Record) Sight {
	return o.Look(ctx, []agent.Record{r})[0]
}

// round is one call of [Project.Look].
type round struct {
	*Project
	closely  bool
	deadline time.Time // of the wait for ends
	agents   []subject
}

// subject is an agent that is looked at.
type subject struct {
	record   agent.Record
	evidence Evidence
	pane     *tmux.Pane
	screens  map[string]tmux.Screen // that came with the panes
	lost     error                  // the record could not be read again
	unsealed error                  // Sight.NotAllowed
	tmuxErr  error
}

// lookAt looks at an agent, except for its tmux pane.
func (l *round) lookAt(ctx context.Context, a *subject) {
	l.gather(ctx, a)
	a.unsealed = l.Store.CheckSeal(&a.record)
}

// isOfOneMoment reports whether the answers about processes and from tmux, which were read at the same time, fit
// together.
func (a *subject) isOfOneMoment() bool {
	lives := a.evidence.Claude == machine.Alive
	switch a.evidence.Pane {
	case PaneThere:
		return lives || a.evidence.LauncherLives
	case PaneAbsent: // the pane of a start in progress may have appeared since
		return !lives && a.record.PID != 0
	default:
		return a.evidence.Pane == PaneUnknown || !a.inTmux()
	}
}

func (a *subject) inTmux() bool { return a.record.Process != nil && a.record.Process.Tmux != nil }

func (a *subject) sight() Sight {
	s := Sight{
		Record: a.record, Report: a.evidence.Report, Done: a.evidence.TurnDone, Pane: a.pane,
		NotAllowed: a.unsealed, Err: a.tmuxErr,
	}
	if !a.evidence.Job.isOver() {
		s.Job = a.evidence.Job
	}
	if a.lost != nil {
		s.Lost, s.Err = true, a.lost
		s.Status = agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: "the record cannot be read"}
		return s
	}
	s.Status, s.Dialog = judge(&a.record, &a.evidence)
	if reading := a.evidence.Screen; s.Status.State == agent.Waiting && reading.State == agent.Waiting {
		s.Dialog, s.Asked = reading.Dialog, reading.Asked
	}
	return s
}

// subjects are some of the agents of a round.
type subjects []*subject

func (l *round) all() subjects {
	all := make(subjects, len(l.agents))
	for i := range l.agents {
		all[i] = &l.agents[i]
	}
	return all
}

func (some subjects) where(wanted func(*subject) bool) subjects {
	return slices.DeleteFunc(slices.Clone(some), func(a *subject) bool { return !wanted(a) })
}

// each calls do for each agent, on all processors.
func (some subjects) each(do func(*subject)) {
	parallel.Each(len(some), func(i int) { do(some[i]) })
}

// unsaved returns the reason why the conversation of a running agent is not saved.
func (l *round) unsaved(a *subject) string {
	if a.evidence.Claude != machine.Alive {
		return ""
	}
	if why := a.evidence.Screen.Unsaved; why != "" {
		return "Claude cannot write its transcript: " + why
	}
	if config, err := l.ConfigOf(&a.record); err == nil && config.IsFull() {
		return "the disk of its transcript is full"
	}
	return ""
}

// modelOf is the model that a live agent runs: as Claude's status line named it last, or before that as the command line
// of the process does.
func (o *Project) modelOf(s *Sight) agent.Model {
	if !s.Status.SamePID {
		return ""
	}
	if gauge := s.Record.GaugeOf(s.Report); gauge != nil && gauge.Model != "" {
		return gauge.Model
	}
	words, err := o.Machine.Cmdline(s.Record.PID)
	if err != nil {
		return ""
	}
	args, _ := cmdline.ReadArgs(words)
	model, err := agent.ParseModel(args.Model)
	if err != nil {
		return ""
	}
	return model
}
