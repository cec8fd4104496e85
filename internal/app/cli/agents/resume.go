package agents

import (
	"context"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/supervisor"
)

// resumeOptions are the options of one resume, as typed.
type resumeOptions struct {
	ui.Selection

	model        string
	modelGiven   bool
	fresh, force bool
	brief        bool
	sessionID    string
	cwd          string
	start        startOptions
}

func newResumeCmd(f *ui.Factory) *cobra.Command {
	o := &resumeOptions{}
	cmd := &cobra.Command{
		Use:     "resume {<handle>... | @GROUP... | --down | --all} [flags]",
		Aliases: []string{"continue"},
		Short:   "Bring agents back into their conversations",
		Long: ui.WithCodes(`Starts an agent again from its record: same conversation, model, permissions and folder,
after an exit, a crash, a killed tmux server or a reboot. First it ends what the last start's
tools left running. A running agent is refused, unless --force ends it first.

--down resumes all agents that should run and do not. --all also resumes stopped agents, and
with --force running ones. Several agents are started in parallel.

Details:

If the transcript was deleted or has lost a part, resume restores it from the archive and says
so. If the archive has no copy, it fails and changes nothing. --fresh starts a new conversation
with the first prompt; the old id is kept in previous_sessions. With --brief, the agent is told
where the old conversation stopped: the last messages, its task list, the files it edited, and
what the project's memory has about it. --session-id goes back to one of previous_sessions, for
example after a /clear.

Without --prompt, resume sends nothing to the agent. Other users can read the prompt on
claude's command line. If the start fails, the record is unchanged, and resume shows the last
output of claude. After exit code 3, 8 or 130 the start may still succeed.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Annotations: ui.Usual("all down force fresh brief model prompt session-id"),
		Example: `  nbs-worker resume theologian
  nbs-worker resume --down               # after a reboot or a lost tmux
  nbs-worker resume theologian --model sonnet --prompt 'Go on.'
  nbs-worker resume theologian --force   # it hangs: end it, and start it
  nbs-worker resume theologian --fresh   # give the conversation up
  nbs-worker resume theologian --fresh --brief   # with a briefing
  nbs-worker resume theologian --force --session-id ID  # undo a /clear`,
		Args:              o.Positional,
		ValidArgsFunction: f.SelectionWhere(ui.Down),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.modelGiven = cmd.Flags().Changed("model")
			o.start.promptGiven, o.start.timeoutGiven = cmd.Flags().Changed("prompt"), cmd.Flags().Changed("timeout")
			return runResume(cmd.Context(), f, o)
		},
	}
	o.bind(f, cmd)
	return cmd
}

func (o *resumeOptions) bind(f *ui.Factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&o.Down, "down", false, "all agents that should run and do not")
	flags.BoolVar(&o.All, "all", false, "all agents that do not run, including stopped ones")
	flags.StringVar(&o.model, "model", "", "use this new model (default: the recorded one)")
	flags.BoolVar(&o.fresh, "fresh", false, "start a new, empty conversation")
	flags.BoolVar(&o.brief, "brief", false, "with --fresh: tell the agent where the old conversation stopped")
	flags.StringVar(&o.sessionID, "session-id", "", "go back to this one of the agent's previous_sessions")
	flags.StringVar(&o.cwd, "cwd", "", "use this working directory from now on (default: the recorded one; if the project was moved, its new place)")
	cmd.MarkFlagsMutuallyExclusive("fresh", "session-id")
	flags.BoolVar(&o.force, "force", false, "if the agent runs, end it first")
	o.start.bind(cmd)
	f.WithJSON(cmd)
	ui.CompleteWith(cmd, "model", ui.CompleteModels)
	ui.CompleteWith(cmd, "session-id", f.CompleteEarlier)
}

func runResume(ctx context.Context, f *ui.Factory, o *resumeOptions) error {
	resume, err := o.parse(f)
	if err != nil {
		return ui.Failed(err, "resume")
	}
	s, err := f.Supervisor()
	if err == nil {
		err = o.start.takePrompt(f, s, &resume.Start)
	}
	if err != nil {
		return ui.Failed(err, "resume")
	}
	handles, err := o.Resolve(ctx, s, o.takes)
	if err != nil {
		return ui.Failed(err, "resume")
	}
	if len(handles) == 0 {
		f.Note("there is no agent to resume")
	}
	if o.Down {
		f.NoteStopped(&o.Selection)
	}
	return f.Each(ctx, "resume", handles, o.Several(), ui.AtOnce(), func(handle agent.Handle) (ui.Outcome, error) {
		resume := resume
		resume.Progress = f.Progress(handle)
		if o.start.dryRun {
			plan, err := s.PlanResume(ctx, handle, resume)
			if err != nil {
				return ui.Outcome{}, err
			}
			return planned(f, plan), nil
		}
		started, err := s.Resume(ctx, handle, resume)
		if started.Fresh { // for scripts too: a conversation was replaced
			f.Say("resume %s: a new conversation in place of %s", handle, wire.NewStarted(started).Previous)
		}
		f.SayStarted(handle, started)
		if err != nil {
			return ui.Outcome{}, err
		}
		return f.StartedOutcome(s, started), nil
	})
}

// takes reports whether --down and --all include an agent.
func (o *resumeOptions) takes(row inspect.Row) bool {
	if row.Status.Running() {
		return o.All && o.force
	}
	return o.All || row.Record.LaunchDesired() == agent.DesiredRunning
}

func (o *resumeOptions) parse(f *ui.Factory) (supervisor.Resume, error) {
	start, err := o.start.parse(f, "")
	resume := supervisor.Resume{Fresh: o.fresh, Force: o.force, Unstopped: o.Down, Start: start}
	if o.brief {
		resume.Brief = &supervisor.Briefing{Why: "with resume --fresh"}
	}
	switch {
	case err == nil && o.brief && !o.fresh:
		err = fail.Errorf(fail.BadInput, "--brief is only for a new conversation").
			Hint("to begin a new one: add --fresh")
	case err != nil || o.sessionID == "":
	case o.Several():
		err = fail.Errorf(fail.BadInput, "--session-id needs exactly one agent")
	default:
		resume.SessionID, err = agent.ParseSessionID(o.sessionID)
	}
	if err == nil {
		resume.Cwd, err = ui.NamedFolder("working directory", o.cwd)
	}
	if err == nil && o.modelGiven {
		var model agent.Model
		model, err = agent.ChooseModel(o.model)
		resume.Model = &model
	}
	return resume, err
}
