package supervisor

import (
	"cmp"
	"context"
	"errors"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	brief "nbs-worker/internal/team/briefing"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/teardown"
)

// Spawn describes a new agent: its configuration, and its start. Of the [agent.Spec], the handle is needed. What is
// empty of the rest is completed: a new session id, the project root, the folder of the conversation that is taken up
// or else the project root, the caller's configuration, and the first prompt of the start.
type Spawn struct {
	agent.Spec
	UsualMode agent.PermissionMode // the permission mode if none is asked for and a person calls
	Worktree  *Worktree            // is made for it, and it works there; nil: none is made
	launch.Start
}

// Started is the result of a start.
type Started struct {
	launch.Plan
	Record  agent.Record
	Status  agent.Status
	WorksIn string // the folder that its session has entered, and in which it goes on; "": the recorded one
	OutOf   string // the git worktree that claude was to go back to and did not; "": it did, or was in none
	Unsaved string // why its conversation is not saved; "": it is
	Fresh   bool   // a new conversation replaced another one
	Old     bool   // claude is older than the versions that nbs-worker is tested with
	Mute    string // why its claude runs no hooks; "": it runs them

	SharesTree []agent.Handle // the other agents in the worktree that it works in, of a spawn
	Untold     error          // why one of them could not be told

	Briefed  brief.Source   // the sources of its briefing
	Restored *keep.Restored // the transcript that was restored; nil: it was not missing
	Unkept   error          // why the transcript could not be kept
	Unsaid   string         // the recorded first prompt, if another one was sent instead; "": it was not replaced
}

// PlanSpawn checks everything that can be checked before a spawn, and changes nothing.
func (s *Supervisor) PlanSpawn(ctx context.Context, spawn Spawn) (launch.Plan, error) {
	if err := s.Project.Store.CheckFree(spawn.Handle); err != nil {
		return launch.Plan{}, err
	}
	if spawn.Worktree != nil {
		return s.planSpawnInTree(ctx, spawn)
	}
	start := spawn.Start
	start.Minted, start.TakesUp = spawn.SessionID == "", spawn.SessionID != ""
	r, err := s.newRecord(spawn)
	if err != nil {
		return launch.Plan{}, err
	}
	start.Prompt = r.InitialPrompt
	if err := r.Validate(); err != nil {
		return launch.Plan{}, err
	}
	return s.starter().Plan(r, start)
}

// planSpawnInTree plans a spawn in a worktree that is not made yet: until then, the project stands for it.
func (s *Supervisor) planSpawnInTree(ctx context.Context, spawn Spawn) (launch.Plan, error) {
	_, in, err := s.planTree(ctx, spawn)
	if err != nil {
		return launch.Plan{}, err
	}
	cwd := in.Cwd
	in.Cwd, in.Trust = "", false
	plan, err := s.PlanSpawn(ctx, in)
	plan.Record.Cwd = cwd
	return plan, err
}

// Spawn starts a new agent. Its record, with the session id, is on disk before anything runs, and stays there in any
// case.
func (s *Supervisor) Spawn(ctx context.Context, spawn Spawn) (Started, error) {
	unlock, err := s.lockVerb(ctx, spawn.Handle, "spawn")
	if err != nil {
		return Started{}, err
	}
	defer unlock()
	interrupt, ctx := ctx, context.WithoutCancel(ctx) // only waiting is interrupted
	if spawn, err = s.withTree(ctx, interrupt, spawn); err != nil {
		return Started{}, err
	}
	plan, restored, err := s.insert(ctx, spawn)
	if err != nil {
		return Started{Plan: plan, Restored: restored}, err
	}
	r, err := s.launch(ctx, interrupt, plan)
	if err != nil {
		return Started{Plan: plan, Restored: restored}, s.withRecordKept(err, &r, spawn.Handle)
	}
	started := s.started(ctx, plan, r)
	started.Restored = restored
	if tree, others := s.sharing(&r); len(others) > 0 {
		started.SharesTree = agent.Mapped(others, func(one agent.Record) agent.Handle { return one.Handle })
		started.Untold = s.tellSharing(ctx, r.Handle, tree, others)
	}
	return started, nil
}

// insert writes the record of a new agent, with a start that is about to happen.
func (s *Supervisor) insert(ctx context.Context, spawn Spawn) (launch.Plan, *keep.Restored, error) {
	plan, restored, err := s.starter().Restored(ctx, "spawn", func() (launch.Plan, error) { return s.PlanSpawn(ctx, spawn) })
	if err != nil {
		return plan, restored, err
	}
	plan.Brief = sharedBrief(s.sharing(&plan.Record))
	claimed, err := s.starter().Claimed(plan)
	if err != nil {
		return plan, restored, err
	}
	if err := s.Project.Store.Insert(ctx, claimed); err != nil {
		return plan, restored, err
	}
	if err := cmp.Or(s.Caller.CheckCrowd(), s.checkRoom(claimed.Handle, true)); err != nil {
		return plan, restored, errors.Join(err, s.Project.Store.Remove(ctx, claimed.Handle))
	}
	plan.Claimed = &claimed
	if err := errors.Join(s.Project.Note(ctx, "spawn", &claimed, plan.Opening.Conversation()), s.Keeper.NoteLoss(ctx, &claimed, plan.Loss)); err != nil {
		return plan, restored, s.withRecordKept(err, &claimed, spawn.Handle)
	}
	return plan, restored, nil
}

// withRecordKept adds to an error what became of the record, if the agent does not run.
func (s *Supervisor) withRecordKept(err error, r *agent.Record, handle agent.Handle) error {
	if fail.KindOf(err) == fail.Interrupted || r.Process != nil && !s.Project.Machine.IsGone(r.Process.Identity) {
		return err
	}
	return fail.Errorf(fail.KindOf(err), "%w", err).
		Hint("its record is kept: nbs-worker resume %s tries again, nbs-worker dismiss %s removes it", handle, handle)
}

// launch starts the planned agent, and ends it if it must not run.
func (s *Supervisor) launch(ctx, interrupt context.Context, p launch.Plan) (agent.Record, error) {
	r, err := s.starter().Start(ctx, interrupt, p)
	if _, wrong := errors.AsType[*launch.WrongError](err); wrong {
		err = errors.Join(err, teardown.End(ctx, s.Project, r))
	}
	return r, err
}

func (s *Supervisor) started(ctx context.Context, p launch.Plan, r agent.Record) Started {
	sight := s.Project.LookClosely(ctx, []agent.Record{r})[0]
	started := Started{
		Plan: p, Record: r, Status: sight.Status, WorksIn: sight.WorksIn, Unsaved: sight.Unsaved, Old: claude.OlderThanTested(r.ClaudeVersion),
		Unkept: s.Keeper.Keep(ctx, &r), Mute: s.Project.HooksOff(&r),
	}
	if p.Opening == cmdline.OpenResume {
		started.OutOf = s.outOfWorktree(ctx, &sight)
	}
	return started
}

// outOfWorktree returns the git worktree that a resumed claude did not go back to, and notes it in the record for later
// looks. It returns "" for a claude that is where it should be.
func (s *Supervisor) outOfWorktree(ctx context.Context, sight *observe.Sight) string {
	worktree := s.Project.OutOfWorktree(sight)
	if worktree == "" {
		return ""
	}
	_, _ = s.Project.Store.Update(ctx, sight.Record.Handle, func(now *agent.Record) error {
		if !observe.SameStart(now.Process, sight.Record.Process) {
			return agent.ErrSuperseded
		}
		now.Process.OutOfWorktree = true
		return nil
	})
	return worktree
}

// inFolder returns what the journal says about the folder of a start: nothing if it is the recorded one, and the right
// one.
func inFolder(worksIn, outOf string) (words string) {
	if worksIn != "" {
		words = ", in the folder that its session has entered: " + worksIn
	}
	if outOf != "" {
		words += ", not in its worktree: " + outOf
	}
	return words
}

// newRecord returns the record of a new agent, with a complete [agent.Spec] within the caller's limits.
func (s *Supervisor) newRecord(spawn Spawn) (agent.Record, error) {
	spec, err := s.withCallersLimits(spawn)
	if err == nil {
		err = s.checkRoom(spec.Handle, true)
	}
	if err != nil {
		return agent.Record{}, err
	}
	now := s.Project.Seconds()
	r := agent.Record{Spec: spec, Started: now, Created: now, Desired: agent.DesiredRunning}
	r.TmuxSession = s.starter().SessionName(&r)
	if r.SessionID == "" {
		r.SessionID = agent.NewSessionID()
	} else if err := s.takeUp(&r); err != nil {
		return r, err
	}
	r.Cwd = cmp.Or(r.Cwd, r.ProjectRoot)
	return r, nil
}

// takeUp sets a new record to an existing conversation. The agent runs in the folder of that conversation: up to
// 2.1.197, claude does not find it from another folder.
func (s *Supervisor) takeUp(r *agent.Record) error {
	config, err := s.Project.ConfigOf(r)
	if err != nil {
		return err
	}
	file, found, err := config.Transcript(r.SessionID)
	if err != nil {
		return err
	}
	hasMessages := false
	if found {
		if hasMessages, err = file.HasMessagesAfter(0); err != nil {
			return err
		}
	}
	if !hasMessages { // but it may have been kept
		kept, err := s.Keeper.KeptOf(r.SessionID)
		if err != nil {
			return err
		}
		if kept != nil {
			file, hasMessages = transcript.At(kept.Path), true
		}
	}
	if !hasMessages {
		return fail.Errorf(fail.NotFound, "no conversation %s in Claude's configuration", r.SessionID).
			Hint("leave --session-id away for a new conversation")
	}
	r.TranscriptSeen = s.Project.Seconds()
	held, err := file.LastCwd()
	if err != nil {
		return err
	}
	if entered, err := file.Entered(); err == nil && entered.Includes(held) {
		held = cmp.Or(entered.From, held) // claude goes back to the worktree by itself
	}
	if s.Project.Store.Spool().WorksIn(held) {
		return fail.Errorf(fail.BadInput, "the conversation %s observes an agent for the memory, and is not an agent's own", r.SessionID).
			Hint("to see who is observed: nbs-worker memory status").
			Hint("leave --session-id away for a new conversation")
	}
	r.Cwd = cmp.Or(r.Cwd, held)
	return s.Project.CheckUnrecorded(r)
}
