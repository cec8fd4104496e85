package observe

import (
	"context"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
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
	Dialog screen.Dialog // at which a live agent waits, or ""
	Asked  *agent.Asked  // in the dialog; nil: nothing, or its screen does not show it
	Report agent.Report  // what its hooks said in this start; empty: nothing
	Done   bool          // the last turn of this start ended well
	Model  agent.Model   // that it runs; "": it is not known. The record has the model for the next start
	// worksIn is where its session is now, if that is another folder than the recorded one; DriftOf says
	// whether the session has moved there by itself.
	WorksIn string

	// Unsaved is why what is said to it, and what it says, is not written down, as far as that shows; "": it is
	// written down. Only a close look says so.
	Unsaved string

	Pane *tmux.Pane // in which it runs; nil: in none, or tmux did not say

	// NotAllowed is why nothing is started from the record; nil: the user vouches for it. An
	// error of another kind than Held means that this could not be determined.
	NotAllowed error

	// Err is why the look is not complete: the record was removed or damaged meanwhile, or
	// its tmux server could not be asked. In the latter case all else is known.
	Err error
}

// Background is how many tasks a live agent's last turn has left running: shells, subagents.
func (s *Sight) Background() int {
	if !s.Status.SamePID {
		return 0
	}
	return s.Report.Background
}

// TmuxSession is the name of the tmux session in which it is: a person may have renamed the one of its start, or
// moved its pane to another. Where it has no pane, it is the recorded name.
func (s *Sight) TmuxSession() string {
	if s.Pane != nil && s.Pane.Session != "" {
		return s.Pane.Session
	}
	return s.Record.TmuxSession
}

// IsNotAllowed reports whether the record is known to be without the user's seal.
func (s *Sight) IsNotAllowed() bool { return fail.KindOf(s.NotAllowed) == fail.Held }

// endPatience is how long a look waits in all for the ends that it sees to be written down:
// the launcher of a dead claude reads the screen and records the exit, in some milliseconds.
const endPatience = time.Second

// Look looks at agents, with one call to each tmux server, and one more where only a screen
// can tell. The records were just read.
func (o *Observer) Look(ctx context.Context, records []agent.Record) []Sight {
	return o.look(ctx, records, false)
}

// LookClosely is [Observer.Look] that reads each screen, and asks whether transcripts can be written.
func (o *Observer) LookClosely(ctx context.Context, records []agent.Record) []Sight {
	return o.look(ctx, records, true)
}

func (o *Observer) look(ctx context.Context, records []agent.Record, closely bool) []Sight {
	l := &round{Observer: o, closely: closely, deadline: time.Now().Add(endPatience), agents: make([]subject, len(records))}
	for i, r := range records {
		l.agents[i] = subject{record: r}
	}
	answers := l.ask(ctx, l.all()) // while processes are looked at
	l.all().each(func(a *subject) { l.lookAt(ctx, a) })
	l.tell(answers(), l.all())
	// An agent that started or ended between the two is looked for again.
	unlike := l.all().where(func(a *subject) bool { return !a.isOfOneMoment() })
	l.tell(l.ask(ctx, unlike)(), unlike)
	went := unlike.where(func(a *subject) bool { return a.evidence.Claude == machine.Alive && a.evidence.Pane == PaneAbsent })
	went.each(func(a *subject) { l.lookAt(ctx, a) })
	l.readScreens(ctx)
	sights := make([]Sight, len(l.agents))
	for i := range sights {
		sights[i] = l.agents[i].sight()
		sights[i].Model = l.modelOf(&sights[i])
		if l.Outside {
			sights[i].Asked = nil
		}
		if closely {
			sights[i].Unsaved = l.unsaved(&l.agents[i])
		}
	}
	return sights
}

// LookAt is [Observer.Look] at one agent.
func (o *Observer) LookAt(ctx context.Context, r agent.Record) Sight {
	return o.Look(ctx, []agent.Record{r})[0]
}

// round is one call of [Observer.Look].
type round struct {
	*Observer
	closely  bool
	deadline time.Time // of the wait for ends
	agents   []subject
}

// subject is an agent that is looked at.
type subject struct {
	record   agent.Record
	evidence Evidence
	pane     *tmux.Pane
	lost     error // the record could not be read again
	unsealed error // Sight.NotAllowed
	tmuxErr  error
}

// lookAt looks at all of an agent but its tmux pane.
func (l *round) lookAt(ctx context.Context, a *subject) {
	l.gather(ctx, a)
	a.unsealed = l.Store.CheckSeal(&a.record)
}

// isOfOneMoment reports whether the answers of processes and tmux, which were asked side by side, fit together.
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
	if a.lost != nil {
		s.Lost, s.Err = true, a.lost
		s.Status = agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: "the record cannot be read"}
		return s
	}
	if a.evidence.Claude == machine.Alive {
		s.WorksIn = worksIn(&a.record, a.evidence.Entry)
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

// unsaved is why what is said to a live agent is not written down.
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
func (o *Observer) modelOf(s *Sight) agent.Model {
	if !s.Status.SamePID {
		return ""
	}
	if gauge := s.Record.GaugeOf(s.Report); gauge != nil && gauge.Model != "" {
		return gauge.Model
	}
	cmdline, err := o.Machine.Cmdline(s.Record.PID)
	if err != nil {
		return ""
	}
	args, _ := claude.ReadArgs(cmdline)
	model, err := agent.ParseModel(args.Model)
	if err != nil {
		return ""
	}
	return model
}
