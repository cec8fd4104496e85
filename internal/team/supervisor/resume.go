package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	brief "nbs-worker/internal/team/briefing"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/teardown"
)

// ErrStopped is wrapped by the Conflict about an agent that was stopped since the caller chose it.
var ErrStopped = errors.New("the agent was stopped since this command chose it")

// Resume says how to resume an agent.
type Resume struct {
	Model *agent.Model // nil keeps the recorded one
	Fresh bool         // a new, empty conversation in place of the recorded one
	Force bool         // end a running agent first
	Cwd   string       // absolute; "" for the recorded folder, or its new place if the project was moved
	Brief *Briefing    // of a new conversation; nil: no briefing

	// Unstopped refuses an agent that is stopped, with [ErrStopped]: when the caller chose it, it was not.
	Unstopped bool

	SessionID agent.SessionID // the earlier conversation to go back to; "" for the present one
	launch.Start
}

// PlanResume checks everything that can be checked before a resume, and changes nothing.
func (s *Supervisor) PlanResume(ctx context.Context, handle agent.Handle, resume Resume) (launch.Plan, error) {
	r, err := s.Project.Store.Load(handle)
	if err == nil {
		err = s.Project.Store.CheckSeal(&r)
	}
	if err != nil {
		return launch.Plan{}, err
	}
	if resume, err = s.granted(&r, resume); err != nil {
		return launch.Plan{}, err
	}
	sight, err := s.checkDown(ctx, r, resume.Force)
	if err != nil {
		return launch.Plan{}, err
	}
	return s.planResume(sight.Record, resume)
}

// Resume starts an agent from its record. If that fails and no part of the start runs, the record is restored.
func (s *Supervisor) Resume(ctx context.Context, handle agent.Handle, resume Resume) (Started, error) {
	unlock, err := s.lockVerb(ctx, handle, "resume")
	if err != nil {
		return Started{}, err
	}
	defer unlock()
	interrupt, ctx := ctx, context.WithoutCancel(ctx) // only waiting is interrupted
	asked, err := s.Project.Store.Load(handle)
	if err == nil && resume.Unstopped && asked.LaunchDesired() == agent.DesiredStopped {
		err = fail.Errorf(fail.Conflict, "%w", ErrStopped).
			Hint("to start it anyway: nbs-worker resume %s", handle)
	}
	if err != nil {
		return Started{}, err
	}
	if resume, err = s.granted(&asked, resume); err != nil {
		return Started{}, err
	}
	sight, err := s.settledDown(ctx, handle, resume.Force)
	if err != nil {
		return Started{}, err
	}
	before := sight.Record
	// Everything that could make the start fail is checked before the agent is ended.
	planned, err := s.planResume(before, resume)
	if err != nil {
		return Started{}, err
	}
	written := store.Launch{Claude: planned.Program, Env: s.Project.Env, Prompt: planned.Prompt}
	if err := s.Project.Store.CheckWritable(ctx, handle, planned.Record.SessionID, written); err != nil {
		return Started{}, err
	}
	held := s.starter().KeepSession(ctx, &sight)
	defer held.Release()
	if before, err = s.clear(ctx, before); err != nil {
		return Started{}, err
	}
	plan, restored, err := s.starter().Restored(ctx, "resume", func() (launch.Plan, error) { return s.planResume(before, resume) })
	if err != nil {
		return Started{Restored: restored}, err
	}
	plan.InView = held.InView
	c := resumption{Resume: resume, before: before, plan: plan, restored: restored}
	c.plan.Brief, c.from = s.brief(ctx, resume.Brief, &before)
	return s.bringBack(interrupt, &c)
}

// resumption is a resume that is ready except for the start itself.
type resumption struct {
	Resume
	before   agent.Record // restored if no part of the start runs
	plan     launch.Plan
	restored *keep.Restored
	from     brief.Source // the sources of the briefing
}

// bringBack records what was lost, and starts the agent. If the loss cannot be recorded, it does not start the agent:
// after claude has written more than was lost, the transcript would look overwritten.
func (s *Supervisor) bringBack(interrupt context.Context, c *resumption) (Started, error) {
	ctx := context.WithoutCancel(interrupt)
	if err := s.Keeper.NoteLoss(ctx, &c.plan.Record, c.plan.Loss); err != nil {
		return Started{Restored: c.restored}, err
	}
	r, err := s.launch(ctx, interrupt, c.plan)
	return s.settle(interrupt, c, r, err)
}

// settle returns and journals the result of a start, also of one that goes on beside its error. After any other error
// it restores the record.
func (s *Supervisor) settle(interrupt context.Context, c *resumption, r agent.Record, err error) (Started, error) {
	ctx := context.WithoutCancel(interrupt)
	if err != nil && !s.goesOn(ctx, &r, err) {
		return Started{Plan: launch.Plan{Loss: c.plan.Loss}, Restored: c.restored}, errors.Join(err, s.restore(ctx, c.before, r))
	}
	if err == nil && c.Wait > 0 {
		err = s.awaitBriefed(interrupt, &c.plan, &r)
	}
	started := s.started(ctx, c.plan, r)
	started.Fresh, started.Restored, started.Briefed = c.Fresh, c.restored, c.from
	started.Unsaid = c.droppedPrompt(c.plan.Opening, r.InitialPrompt)
	detail := c.plan.Opening.Conversation()
	if c.Fresh {
		detail = "a new conversation in place of " + string(c.before.SessionID)
	}
	if c.plan.Brief != "" {
		detail += ", with a briefing"
	}
	detail += inFolder(started.WorksIn, started.OutOf)
	if err != nil {
		detail += "; " + err.Error()
	}
	if untold := s.Project.Note(ctx, "resume", &r, detail); untold != nil {
		err = cmp.Or(err, launch.RunsUnnoted(s.Project.Machine, &r, "its entry in the journal", untold))
	}
	return started, err
}

// droppedPrompt returns the first prompt of the record if the resume replaces it; "" otherwise.
func (r *Resume) droppedPrompt(opening cmdline.Opening, first string) string {
	if opening == cmdline.OpenNew && !r.Fresh && r.Prompt != "" && r.Prompt != first {
		return first
	}
	return ""
}

// settledDown loads the record of an agent and checks that it may be started. If the agent ended during the first
// look, it looks again.
func (s *Supervisor) settledDown(ctx context.Context, handle agent.Handle, force bool) (observe.Sight, error) {
	for last := false; ; last = true {
		r, err := s.Project.Settled(ctx, handle)
		if err == nil {
			err = s.Project.Store.CheckSeal(&r)
		}
		if err != nil {
			return observe.Sight{}, err
		}
		sight, err := s.checkDown(ctx, r, force)
		p := sight.Record.Process
		if err == nil || last || p == nil || p.PID == 0 || !s.Project.Machine.IsGone(p.Identity) && !s.Project.Machine.IsGone(p.LauncherIdentity()) {
			return sight, err
		}
	}
}

// checkDown refuses to start an agent that runs or may run.
func (s *Supervisor) checkDown(ctx context.Context, record agent.Record, force bool) (observe.Sight, error) {
	sight := s.Project.LookAt(ctx, record)
	endFirst, err := s.startable(&sight, force)
	if !endFirst || err != nil {
		return sight, err
	}
	if err := teardown.CheckSelf(s.Project, &sight.Record, sight.Pane); err != nil {
		return sight, err
	}
	return sight, s.starter().CheckTarget(ctx, &sight.Record)
}

// startable decides from a sight of an agent whether it may be started. endFirst reports that it must be ended first.
func (s *Supervisor) startable(sight *observe.Sight, force bool) (endFirst bool, err error) {
	r, status := &sight.Record, sight.Status
	switch {
	case sight.Err != nil && fail.KindOf(sight.Err) != fail.BadInput && r.Process != nil && r.Process.Launcher.PID == 0:
		return false, sight.Err // only tmux knows whether that start is in progress; none is at a foreign socket
	case status.Down():
		return false, s.checkQueue(sight)
	case status.State == agent.Unknown && !status.SamePID:
		untold := fail.Errorf(fail.Conflict, "cannot determine whether the agent runs: %s", status.Detail)
		return false, s.Project.HintAside(s.Project.HintJob(untold, r, "session"), r, "when it is certain that it does not run")
	case force && !s.Project.IsForeign(r):
		return true, nil
	}
	runs := runsAlready(r, status, sight.Err)
	if s.Project.IsForeign(r) {
		return false, s.Project.HintJob(runs, r, "attach").Hint("to end its job: nbs-worker stop %s", r.Handle)
	}
	if sight.Pane == nil && status.SamePID && sight.Err == nil {
		runs = runs.Hint("%s: go there", s.Inspector.Whereabouts(r))
	} else {
		runs = runs.Hint("to see what it does: nbs-worker session %[1]s; to go there: nbs-worker attach %[1]s", r.Handle)
	}
	return true, runs.Hint("to break off what it does, and start it again: repeat the command with --force")
}

// runsAlready returns the error for a running agent. It includes why tmux could not be asked, if so.
func runsAlready(r *agent.Record, status agent.Status, tmuxErr error) *fail.Error {
	text := fmt.Sprintf("the agent runs already: %s, pid %d%s", status.Word(), r.PID, halfStopped(r))
	if tmuxErr != nil {
		return fail.Errorf(fail.Conflict, "%s; %w", text, tmuxErr)
	}
	return fail.Errorf(fail.Conflict, "%s", text)
}

// halfStopped returns a remark if an agent runs although it is marked as stopped.
func halfStopped(r *agent.Record) string {
	if r.Desired == agent.DesiredStopped {
		return ", though it is marked as stopped"
	}
	return ""
}

// clear ends what is left of the last start, and the agent itself if that was requested.
func (s *Supervisor) clear(ctx context.Context, before agent.Record) (agent.Record, error) {
	if before.Process == nil {
		return before, nil
	}
	before, err := s.update(ctx, before.Handle, func(r *agent.Record) error {
		s.follow(r)
		return nil
	})
	if err != nil {
		return before, err
	}
	if err := teardown.SparingPane(teardown.End(ctx, s.Project, before)); err != nil {
		return before, err
	}
	return s.Project.Store.Load(before.Handle)
}

// planResume makes the record that the resume will write, for the conversation that the agent has last moved to, and
// plans its start.
func (s *Supervisor) planResume(r agent.Record, resume Resume) (launch.Plan, error) {
	if err := s.Project.Store.CheckSeal(&r); err != nil { // again: the record was read again since the first look
		return launch.Plan{}, err
	}
	if r.Unfinished() {
		return launch.Plan{}, errHalfRenamed(&r)
	}
	if r.IsLeaving() {
		return launch.Plan{}, errLeaving(&r)
	}
	s.follow(&r)
	if r.Schema == 0 {
		if err := s.completeLegacy(&r); err != nil {
			return launch.Plan{}, err
		}
	}
	moved := s.relocate(&r, resume.Cwd)
	if resume.Model != nil {
		r.Model = *resume.Model
	}
	if err := s.goBack(&r, resume.SessionID); err != nil {
		return launch.Plan{}, err
	}
	if resume.Fresh {
		r.Replace(agent.NewSessionID(), s.Project.Seconds(), "fresh")
	}
	plan, err := s.starter().Plan(r, resume.Start)
	plan.Moved = moved
	return plan, err
}

// completeLegacy adds what the original tools did not record. They sent every agent its prompt right after the start,
// so each agent had a transcript.
func (s *Supervisor) completeLegacy(r *agent.Record) error {
	r.Schema = agent.Schema
	r.Created, r.Cwd, r.PermissionMode = r.Started, r.ProjectRoot, r.LaunchPermissionMode()
	r.Restart.Policy = agent.RestartNo
	if r.TranscriptSeen = r.Started; r.Started.IsZero() {
		r.TranscriptSeen = s.Project.Seconds()
	}
	var err error
	r.ConfigDir, err = s.Project.CallersConfigDir()
	return err
}

// goesOn reports whether a start whose error is cause still runs, at a dialog or late, or may run: its launcher may
// not have recorded claude's identity yet. Such a start keeps its record.
func (s *Supervisor) goesOn(ctx context.Context, start *agent.Record, cause error) bool {
	if start.Process == nil {
		return false
	}
	if _, runs := errors.AsType[*launch.UnnotedError](cause); runs {
		return true
	}
	switch fail.KindOf(cause) {
	case fail.Interrupted:
		return true
	case fail.Held, fail.TimedOut:
		now, err := s.Project.Store.Load(start.Handle)
		return err == nil && observe.SameStart(now.Process, start.Process) && !s.Project.LookAt(ctx, now).Status.Down()
	default:
		return false
	}
}

// restore restores the record when a start failed and no part of it runs. The journal still shows the attempt.
func (s *Supervisor) restore(ctx context.Context, before, failed agent.Record) error {
	if failed.Process == nil {
		return nil // nothing was written
	}
	if err := teardown.SparingPane(teardown.End(ctx, s.Project, failed)); err != nil {
		return err
	}
	_, err := s.Project.Store.Update(ctx, before.Handle, func(r *agent.Record) error {
		if !observe.SameStart(r.Process, failed.Process) {
			return agent.ErrSuperseded
		}
		seen := r.TranscriptSeen
		*r = before
		if r.SessionID == failed.SessionID && r.TranscriptSeen.IsZero() {
			r.TranscriptSeen = seen // what was seen on disk stays recorded
		}
		config, err := s.Project.ConfigOf(r)
		if err == nil && r.TranscriptSeen.IsZero() {
			observe.NoteTranscript(r, config, s.Project.Seconds())
		}
		return err
	})
	return err
}
