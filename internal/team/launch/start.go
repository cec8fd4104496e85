package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/launcher"
	"nbs-worker/internal/team/observe"
)

// Start says how an agent is started. All verbs use it.
type Start struct {
	Prompt   string        // sent as the first message of this start; a plan has the recorded one for an empty conversation
	Brief    string        // given to claude by our hook after the start, beside the prompt; "": nothing
	Wait     time.Duration // how long to wait for claude to be ready; 0: only until it runs
	Patience bool          // wait longer than Wait on a busy machine
	Trust    bool          // trust the working directory for the user

	TrustDir   string // absolute: the folder to trust; "" for the working directory, in the project
	PromptFile string // absolute: the file that the prompt was read from; "": no file

	Job      string            // of a scheduler, in which the agent runs; "": in none
	InPlace  bool              // in the caller's own terminal, without tmux
	Progress func(what string) // called with what a slow start waits for; nil: not called

	Program string // path of claude; "": search for it, which a plan has done
	Again   bool   // by the agent's launcher: the history of the restart policy is kept

	Minted  bool // the session id is new: no other claude can use it, and it has no transcript
	TakesUp bool // of a spawn: the conversation exists
}

// Plan describes what a start will do, before anything is done.
type Plan struct {
	Start
	Record  agent.Record
	Opening cmdline.Opening
	Args    []string      // claude's arguments
	Claimed *agent.Record // already recorded, of a spawn
	InView  bool          // a window added to an existing session becomes the shown one

	config         claude.Config
	transcriptSize int64 // in bytes, before the start

	Restores *archive.Kept // the kept transcript to restore before the start; nil: no transcript is missing
	Moved    *Moved        // nil: the working directory is the recorded one
	Loss     *keep.Loss    // what was cut off the transcript; nil: nothing
}

// Moved says that an agent is started in another working directory than the recorded one.
type Moved struct{ From, To string }

// program returns the claude that a start runs.
func (s Starter) program(start *Start) (string, error) {
	if start.Program == "" {
		return claude.FindBinary(s.Project.Variable(claude.BinaryVariable))
	}
	return start.Program, claude.CheckBinary(start.Program)
}

// Plan checks everything that can be checked before a start, and changes nothing.
func (s Starter) Plan(r agent.Record, start Start) (Plan, error) {
	var err error
	if start.Program, err = s.program(&start); err != nil {
		return Plan{}, err
	}
	config, err := s.Project.ConfigOf(&r)
	if err != nil {
		return Plan{}, err
	}
	opening, restores, err := s.Keeper.Opening(&r, config, start.Minted)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Start: start, Record: r, Opening: opening, config: config, Restores: restores}
	if opening == cmdline.OpenResume && restores == nil {
		transcript, _, err := config.Transcript(r.SessionID)
		if err != nil {
			return Plan{}, err
		}
		plan.transcriptSize = transcript.Size
		if plan.Loss, err = s.Keeper.LossOf(config, r.SessionID); err != nil {
			return Plan{}, err
		}
		if plan.Loss != nil && plan.Loss.Rewritten {
			return Plan{}, s.Keeper.RefuseRewritten(&r, plan.Loss)
		}
	}
	if plan.Prompt == "" && opening == cmdline.OpenNew {
		plan.Prompt = r.InitialPrompt // the conversation is empty: this is the first start
	}
	settings, err := launcher.Settings(s.Project.Program, s.Project.Store, config, &r.Spec)
	if err != nil {
		return Plan{}, err
	}
	plan.Args = cmdline.Args(&r.Spec, opening, plan.Prompt, settings)
	for _, check := range []func(*Plan) error{checkWords, checkFolder, s.checkTrust, s.checkTmux, s.checkRoot} {
		if err := check(&plan); err != nil {
			return Plan{}, err
		}
	}
	if start.Minted {
		return plan, nil
	}
	return plan, s.checkStrangers(&plan)
}

// checkWords checks all words for claude's command line and environment, given or read from the record.
func checkWords(p *Plan) error {
	return cmp.Or(
		cmdline.CheckExtraArgs(p.Record.ClaudeArgs),
		claude.CheckEnv(p.Record.Env),
		claude.CheckSettings(p.Record.Settings),
		claude.CheckPrompt(p.Prompt),
	)
}

// checkTmux checks that tmux can be used, unless the start does not use it.
func (s Starter) checkTmux(p *Plan) error {
	if p.InPlace {
		return nil
	}
	_, err := s.Project.Tmux(s.Project.SocketFor(p.Record.Process))
	if fail.KindOf(err) != fail.Unfit {
		return err
	}
	here := fmt.Sprintf("nbs-worker run %s", p.Record.Handle)
	if p.Minted || p.TakesUp {
		here = fmt.Sprintf("nbs-worker spawn %s --foreground", p.Record.Handle)
	}
	missing := fail.Errorf(fail.Unfit, "%s", err.Error())
	missing.Hints = append(fail.HintsOf(err), "or run the agent in this terminal: "+here)
	return missing
}

func checkFolder(p *Plan) error {
	cwd := p.Record.LaunchCwd()
	info, err := os.Stat(cwd)
	if err == nil && !info.IsDir() {
		return fail.Errorf(fail.BadInput, "the working directory %s is not a folder", human.Quote(cwd))
	}
	if err == nil {
		return nil
	}
	missing := fail.Errorf(fail.NotFound, "the working directory %s does not exist", human.Quote(cwd))
	if own := p.Record.OwnWorktree.Path; own != "" && folder.Contains(own, cwd) && !folder.Exists(own) {
		missing = fail.Errorf(fail.NotFound, "its worktree %s is not there: it was moved or deleted", human.Quote(own)).
			Hint("to see where it is: nbs-worker doctor").
			Hint("if it was deleted, to bring back what git has of it: nbs-worker worktree restore %s", p.Record.Handle)
	}
	if p.TakesUp {
		return missing.Hint("name its present place: nbs-worker spawn %s --session-id %s --cwd DIR", p.Record.Handle, p.Record.SessionID)
	}
	return missing.Hint("put the folder back, or name its present place: nbs-worker resume %s --cwd DIR", p.Record.Handle)
}

func (s Starter) checkRoot(p *Plan) error {
	if !claude.RefusesRoot(&p.Record.Spec, claude.Env(&p.Record.Spec, s.Project.Env, nil), s.Project.UID) {
		return nil
	}
	return fail.Errorf(fail.BadInput, "claude would refuse to start: %s", claude.RootRefusal).
		Hint("let it ask before it acts: --permission-mode acceptEdits").
		Hint("or, if this machine is a sandbox that may be damaged: export IS_SANDBOX=1")
}

func (s Starter) checkStrangers(p *Plan) error {
	strangers, err := s.Project.Strangers(&p.Record)
	if err != nil {
		return fmt.Errorf("look for other claudes on the conversation: %w", err)
	}
	return s.Project.ErrStranger(&p.Record, strangers)
}

// begin starts the planned agent in tmux, and returns after tmux was asked to run its launcher. The caller holds the
// verb lock, and no claude of the record runs.
func (s Starter) begin(ctx context.Context, p Plan) (r agent.Record, err error) {
	r = claimedOf(p)
	if p.Trust {
		if err := p.config.Trust(ctx, p.Record.LaunchCwd()); err != nil {
			return r, err
		}
	}
	if err := s.linkTranscript(p); err != nil {
		return r, err
	}
	before := p.Record.Process
	on, err := s.target(ctx, &p.Record)
	if err != nil {
		return r, err // so the record does not name a start that never began
	}
	if p.Claimed == nil {
		if r, err = s.Claim(ctx, p); err != nil {
			return agent.Record{}, err
		}
	}
	if p.Wait == 0 { // the command ends before claude is ready
		s.Project.Store.LeaveToLauncher(r.Handle)
	}
	launch := s.LaunchOf(p, &r)
	launch.TmuxSocket = s.Project.SocketFor(before)
	if err := s.Project.Store.PutLaunch(r.Handle, launch); err != nil {
		return r, err
	}
	if p.Progress != nil {
		slow := time.AfterFunc(unremarked, func() { p.Progress("waiting for tmux to read its configuration") })
		defer slow.Stop()
	}
	name, err := s.openPane(ctx, &r, p, on)
	if err != nil {
		return r, errors.Join(err, s.Project.Store.DropLaunch(r.Handle))
	}
	if name == r.TmuxSession {
		return r, nil
	}
	noted, err := s.Project.Store.Update(ctx, r.Handle, func(now *agent.Record) error {
		if !observe.SameStart(now.Process, r.Process) {
			return agent.ErrSuperseded
		}
		now.TmuxSession = name
		return nil
	})
	if err != nil {
		return r, &WrongError{err}
	}
	return noted, nil
}

// ClaimAgain records a start that the agent's own launcher is about to make in its own pane.
func (s Starter) ClaimAgain(ctx context.Context, p Plan) (agent.Record, error) {
	if err := s.linkTranscript(p); err != nil {
		return agent.Record{}, err
	}
	return s.Claim(ctx, p)
}

// linkTranscript lets claude find the transcript from the folder in which it will resume.
func (s Starter) linkTranscript(p Plan) error {
	if p.Opening != cmdline.OpenResume {
		return nil
	}
	return p.config.LinkTranscript(p.Record.SessionID, p.Record.LaunchCwd())
}

// LaunchOf returns the launch file for the launcher of a claimed start.
func (s Starter) LaunchOf(p Plan, r *agent.Record) store.Launch {
	return store.Launch{Invocation: r.Process.Invocation, Claude: p.Program, Opening: string(p.Opening), Env: s.Project.Env, Prompt: p.Prompt, Brief: p.Brief}
}

// Claim records the start before it happens. If a process is killed after that, the record explains what is found.
func (s Starter) Claim(ctx context.Context, p Plan) (claimed agent.Record, err error) {
	return s.Project.Store.Update(ctx, p.Record.Handle, func(r *agent.Record) error {
		if !unchanged(r.Process, p.Record.Process) {
			return agent.ErrSuperseded
		}
		exits := r.Exits // the launcher may have added one since the plan
		*r, err = s.Claimed(p)
		r.Exits = exits
		return err
	})
}

// unchanged reports whether a start is the same as at the last look. A late launcher may have begun since then.
func unchanged(now, then *agent.Process) bool {
	return observe.SameStart(now, then) && (now == nil || now.PID == then.PID && now.Launcher == then.Launcher)
}

// placeFor returns where a start will run, before its tmux server is identified: if the verb is killed, the record
// still shows where the session is.
func (s Starter) placeFor(before *agent.Process) (*agent.TmuxPlace, error) {
	client, err := s.Project.Tmux(s.Project.SocketFor(before))
	if err != nil {
		return nil, err
	}
	return &agent.TmuxPlace{Socket: s.Project.SocketFor(before), Path: client.Path()}, nil
}

// Claimed returns the record of a plan, with a start that is about to happen.
func (s Starter) Claimed(p Plan) (agent.Record, error) {
	self, err := s.Project.Machine.Self()
	if err != nil {
		return agent.Record{}, err
	}
	self.Identified = agent.Identified{}
	r := p.Record
	r.Desired, r.Downed = agent.DesiredRunning, false
	r.PID = 0
	r.Restarts = agent.Restarts{}
	if p.Again {
		r.Restarts = p.Record.Restarts.Begun()
	}
	r.EnvNames = claude.ProviderNames(&r.Spec, s.Project.Env)
	r.TmuxSession = s.sessionNames(&r)[0]
	job := p.Job
	if p.Again && p.Record.Process != nil {
		job = p.Record.Process.Job
	}
	r.Process = &agent.Process{Invocation: agent.NewInvocation(), Identity: self, Job: job}
	if !p.InPlace {
		if r.Process.Tmux, err = s.placeFor(p.Record.Process); err != nil {
			return r, err
		}
	}
	return r, nil
}
