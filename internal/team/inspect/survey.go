package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/parallel"
)

// Survey looks at agents closely enough to judge their health: what is known of each, whether it makes progress, and
// what it has lost. It asks each tmux server once and keeps no transcript. It waits only if it suspects that an
// agent makes no progress, for the time of the sample.
//
// The views are in the order of the handles. If a record cannot be read, the view's Err says why. The view's Record
// is then empty, or Lost and as it was before.
func (i *Inspector) Survey(ctx context.Context, handles []agent.Handle, patience time.Duration) []View {
	views := make([]View, len(handles))
	var known []agent.Record
	var of []int
	for n, handle := range handles {
		r, err := i.Project.Store.Load(handle)
		if err != nil {
			views[n].Err = err
			views[n].Status = agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: "the record cannot be read"}
			continue
		}
		known, of = append(known, r), append(of, n)
	}
	sights := i.Project.LookClosely(ctx, known)
	parallel.Each(len(of), func(n int) {
		view := &views[of[n]]
		view.Sight = sights[n]
		i.examine(view)
		view.Draft = i.draft(ctx, view)
	})
	i.sampleSuspects(ctx, views, patience)
	return views
}

// examine adds to a look what the files say. What cannot be read stays unknown; the first error becomes the view's
// Err.
func (i *Inspector) examine(view *View) {
	if view.Lost {
		return
	}
	strangers, strangersErr := i.Project.VisibleStrangers(&view.Record)
	view.Strangers = strangers
	view.Requested = view.Status.State == agent.Waiting && i.Project.IsRequested(view.Record.Handle)
	transcriptErr := i.AddTranscript(view)
	view.LastError = lastError(view.Report, view.Transcript)
	var goneErr error
	if view.Status.State == agent.Dead {
		view.Gone, goneErr = i.gone(view)
	}
	if view.Status.SamePID {
		view.Drift = i.Project.DriftIn(&view.Sight)
		view.Growth = growthOf(view)
	}
	for _, err := range []error{strangersErr, transcriptErr, goneErr} {
		if view.Err == nil {
			view.Err = err
		}
	}
}

// Gone says what an agent that does not run has lost and needs for a resume.
type Gone struct {
	Folder     string // the missing working directory; "": it exists
	Transcript bool   // it had a transcript, and the archive has none either
}

func (i *Inspector) gone(view *View) (Gone, error) {
	r := &view.Record
	var gone Gone
	if _, err := os.Stat(r.LaunchCwd()); errors.Is(err, fs.ErrNotExist) && i.Project.MovedWithProject(r) == "" {
		gone.Folder = r.LaunchCwd()
	}
	if view.Transcript != nil || r.TranscriptSeen.IsZero() {
		return gone, nil
	}
	config, err := i.Project.ConfigOf(r)
	if err != nil {
		return gone, err
	}
	if _, found, err := config.TranscriptOf(r); found || err != nil {
		return gone, err
	}
	kept, err := i.Keeper.KeptOf(r.SessionID)
	if err != nil {
		return gone, fmt.Errorf("look for a kept transcript: %w", err)
	}
	gone.Transcript = kept == nil
	return gone, nil
}

// Growth is the last sign of progress of a running agent.
type Growth struct {
	At     time.Time // of the latest sign
	Of     string    // what grew: "its transcript"
	Halted bool      // its process was stopped at both looks of the sample
	Sample *Sample   // nil: it was not suspected, or it ended before it was measured
}

// Sample is what an agent's processes used between two looks.
type Sample struct {
	Over time.Duration
	CPU  time.Duration
}

// growthOf returns the latest sign of progress: the conversation on disk, also of subagents, the level in the status
// line, the activity that the hooks report, and the start.
func growthOf(view *View) *Growth {
	growth := &Growth{At: view.Record.Started, Of: "its start"}
	grew := func(at time.Time, of string) {
		if at.After(growth.At) {
			growth.At, growth.Of = at, of
		}
	}
	if view.Transcript != nil {
		at, bySubagent := view.Transcript.LastWritten()
		of := "its transcript"
		if bySubagent {
			of = "a subagent's transcript"
		}
		grew(at, of)
	}
	if gauge := view.Record.GaugeOf(view.Report); gauge != nil {
		grew(gauge.Since, "its status line")
	}
	if activity := view.Report.Activity; activity != nil {
		grew(activity.At, "its hooks")
	}
	return growth
}

const sampleTime = 2 * time.Second

// sampleSuspects measures for a moment what processes use: the processes of busy agents without growth for longer
// than the patience, and of agents whose process is stopped.
func (i *Inspector) sampleSuspects(ctx context.Context, views []View, patience time.Duration) {
	type suspect struct {
		*View
		before *machine.Usage
		halted bool
	}
	now := time.Now()
	var suspects []suspect
	for n := range views {
		view := &views[n]
		if view.Growth == nil {
			continue
		}
		halted := i.Project.Machine.Halted(view.Record.Process.Claude().PID)
		if halted || view.Status.State == agent.Busy && now.Sub(view.Growth.At) > patience {
			suspects = append(suspects, suspect{View: view, before: i.usageOf(view.Record.Process), halted: halted})
		}
	}
	if len(suspects) == 0 {
		return
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(sampleTime):
	}
	over := time.Since(now)
	for _, s := range suspects {
		s.Growth.Sample = sampleOf(s.before, i.usageOf(s.Record.Process), over)
		s.Growth.Halted = s.Growth.Sample != nil && s.halted && i.Project.Machine.Halted(s.Record.Process.Claude().PID)
	}
}

// sampleOf returns what was used between two measurements. It returns nil if the agent has ended, or if the second
// value is lower: then processes have left the agent, so it was active.
func sampleOf(before, after *machine.Usage, over time.Duration) *Sample {
	if before == nil || after == nil || after.CPUSeconds < before.CPUSeconds {
		return nil
	}
	return &Sample{Over: over, CPU: time.Duration((after.CPUSeconds - before.CPUSeconds) * float64(time.Second))}
}
