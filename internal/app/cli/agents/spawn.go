package agents

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/supervisor"
)

// spawnOptions are the options of one spawn, as typed.
type spawnOptions struct {
	handle, model, permissionMode, restart, cwd, sessionID, settings, budget string
	env, claudeArgs                                                          []string
	foreground, mayManage, memory, noAnswers                                 bool
	start                                                                    startOptions
	worktree                                                                 worktreeFlags
}

func newSpawnCmd(f *ui.Factory) *cobra.Command {
	o := &spawnOptions{}
	cmd := &cobra.Command{
		Use:   "spawn <handle> [PROMPT] [flags] [-- CLAUDE-ARGS...]",
		Short: "Start a new agent under a name",
		Long: ui.WithCodes(`Starts claude in its own tmux session, nbs-<handle>-live, with a new session id. The record
is on disk before claude starts. spawn returns when claude is ready and was checked against
the record, and prints the handle on stdout.

The agent acts without asking: the default permission mode is bypassPermissions. It works in
the project root, the folder that holds .nbs, unless --cwd names another one, or --worktree has
git make one for it (nbs-worker help worktrees). If the start fails, the record stays, and nbs-worker resume <handle>
tries again.

Details:

Other users of the machine can read the first message on claude's command line: put no secrets
in it. A model whose name looks like a typing error is refused: --model exactly:NAME takes it as
it is.

Claude names the session after the handle. An agent does not compact its conversation while it
is idle, nor go on by itself after a usage limit. To have either, set "idleCompaction" or
"autoContinueAtUsageLimit" to true in your own settings.json of Claude.

More: nbs-worker help restarts, help rights, help environment.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Annotations: ui.Usual("model permission-mode cwd worktree trust"),
		Example: `  nbs-worker spawn theologian 'Read PLAN.md and begin.' --model opus
  nbs-worker spawn scout --permission-mode plan --prompt-file task.md
  nbs-worker spawn scout --cwd ../lab --dry-run`,
		Args:              o.positional,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			code, err := runSpawn(cmd.Context(), f, o)
			return ended(code, err, "spawn", o.handle)
		},
	}
	o.bind(f, cmd)
	return cmd
}

func (o *spawnOptions) bind(f *ui.Factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.model, "model", "", "an alias such as opus or sonnet[1m], or a full name (default: $NBS_MODEL, if set)")
	flags.StringVar(&o.permissionMode, "permission-mode", "", "how claude asks before it acts (default: $NBS_PERMISSION_MODE, or bypassPermissions)")
	flags.StringVar(&o.restart, "restart", string(agent.RestartNo), "restart policy: no, on-failure, on-abnormal, always (nbs-worker help restarts)")
	flags.StringVar(&o.cwd, "cwd", "", "working directory of the agent (default: the project root)")
	flags.StringArrayVar(&o.env, "env", nil, "NAME=VALUE for claude, stored in the record, not for secrets; repeatable")
	flags.StringVar(&o.settings, "settings", "", "settings of Claude's for this agent: a file, or an object in JSON; stored in the record, not for secrets")
	flags.StringVar(&o.budget, "budget", "", "what it may spend, like 5.00/day, also hour or week; then messages to it wait (nbs-worker help budgets)")
	flags.StringVar(&o.sessionID, "session-id", "", "continue this existing conversation")
	flags.BoolVar(&o.mayManage, "may-manage", false, "let the agent manage its colleagues without limits (nbs-worker help rights)")
	flags.BoolVar(&o.memory, "memory", false, "observe the agent and remember what it does (nbs-worker help memory)")
	flags.BoolVar(&o.noAnswers, "no-answers", false, "let only the agent's terminal answer what it asks, not nbs-worker approve and deny")
	flags.BoolVar(&o.foreground, lineage.Foreground, false, "run the agent in this terminal, without tmux, until claude ends")
	o.start.bind(cmd)
	o.worktree.bind(cmd)
	f.WithJSON(cmd)
	for _, other := range []string{"cwd", "session-id"} {
		cmd.MarkFlagsMutuallyExclusive("worktree", other)
	}
	for _, other := range []string{"json", "timeout", "no-wait"} {
		cmd.MarkFlagsMutuallyExclusive(lineage.Foreground, other)
	}
	ui.CompleteWith(cmd, "model", ui.CompleteModels)
	ui.CompleteWith(cmd, "permission-mode", ui.CompleteModes)
	ui.CompleteWith(cmd, "restart", ui.CompleteRestarts)
}

// positional splits the arguments: a handle, its first message, and the arguments after --.
func (o *spawnOptions) positional(cmd *cobra.Command, args []string) error {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		args, o.claudeArgs = args[:at], args[at:]
	}
	const most = 2
	if len(args) > most {
		return fail.Errorf(fail.BadInput, "spawn: the first message must be one argument, %d given", len(args)-1).
			Hint("nbs-worker spawn %s %s", args[0], ui.ShellQuote(strings.Join(args[1:], " ")))
	}
	if err := ui.OneHandle(cmd, args[:min(1, len(args))]); err != nil {
		return err
	}
	o.handle = args[0]
	o.start.promptGiven, o.start.timeoutGiven = cmd.Flags().Changed("prompt"), cmd.Flags().Changed("timeout")
	if len(args) == most {
		if at, is := strings.CutPrefix(args[1], "@"); is && host.CheckName(at) == nil {
			return fail.Errorf(fail.BadInput, "spawn: %s looks like a host, and not like a first message", human.Quote(args[1])).
				Hint("to start it there: nbs-worker spawn %s%s", args[0], args[1]).
				Hint("if it is the message: nbs-worker spawn %s --prompt %s", args[0], args[1])
		}
		if err := o.start.trust.checkNext(args[1]); err != nil {
			return err
		}
		if o.start.promptGiven || o.start.promptFile != "" {
			return fail.Errorf(fail.BadInput, "spawn: the first message is given twice").Hint("%s --help", cmd.CommandPath())
		}
		o.start.prompt, o.start.promptGiven = args[1], true
	}
	return nil
}

// runSpawn returns claude's exit code if claude ran in the foreground.
func runSpawn(ctx context.Context, f *ui.Factory, o *spawnOptions) (int, error) {
	spawn, err := o.parse(f)
	if err != nil {
		return 0, err
	}
	if o.foreground && !f.Streams.InTTY {
		return 0, fail.Errorf(fail.BadInput, "stdin is not a terminal").Hint("to run it in tmux: nbs-worker spawn %s", o.handle)
	}
	s, err := f.Planner()
	if err != nil {
		return 0, err
	}
	if err := o.start.takePrompt(f, s, &spawn.Start); err != nil {
		return 0, err
	}
	if spawn.Settings, err = readSettings(s.Caller, o.settings); err != nil {
		return 0, err
	}
	if o.start.dryRun || !f.Opened.Exists() {
		plan, err := s.PlanSpawn(ctx, spawn)
		if err != nil {
			return 0, err // before a project is created for nothing
		}
		if o.start.dryRun {
			return 0, f.ShowOne(planned(f, plan))
		}
		if s, err = f.NewProject(); err != nil {
			return 0, err
		}
	}
	if o.foreground {
		ready, err := s.PrepareSpawn(ctx, spawn)
		return runHere(ctx, f, s, spawn.Handle, ready, err)
	}
	started, err := s.Spawn(ctx, spawn)
	f.SayStarted(spawn.Handle, started)
	if err != nil {
		return 0, err
	}
	if o.cwd == "" {
		sayFolder(f, &started.Record)
	}
	return 0, f.ShowOne(f.StartedOutcome(s, started))
}

// parse checks the options and the environment.
func (o *spawnOptions) parse(f *ui.Factory) (supervisor.Spawn, error) {
	start, err := o.start.parse(f, agent.Handle(o.handle))
	if err != nil {
		return supervisor.Spawn{}, err
	}
	start.InPlace = o.foreground
	spawn := supervisor.Spawn{Start: start, Spec: agent.Spec{
		Handle: agent.Handle(o.handle), ClaudeArgs: o.claudeArgs, MayManage: o.mayManage, Memory: o.memory, NoAnswers: o.noAnswers,
	}}
	spawn.Model, err = agent.ChooseModel(cmp.Or(o.model, os.Getenv("NBS_MODEL")))
	if err != nil {
		return spawn, err
	}
	usual := cmp.Or(os.Getenv("NBS_PERMISSION_MODE"), string(agent.BypassPermissions))
	if o.permissionMode != "" {
		spawn.PermissionMode, err = agent.ParsePermissionMode(o.permissionMode)
	} else {
		spawn.UsualMode, err = agent.ParsePermissionMode(usual)
	}
	if err != nil {
		return spawn, err
	}
	if spawn.Restart.Policy, err = agent.ParseRestartWord(o.restart); err != nil {
		return spawn, err
	}
	if o.budget != "" {
		if spawn.Budget, err = agent.ParseBudget(o.budget); err != nil {
			return spawn, err
		}
	}
	if spawn.Env, err = agent.ParseEnv(o.env); err != nil {
		return spawn, err
	}
	if spawn.Worktree, err = o.worktree.parse(); err != nil {
		return spawn, err
	}
	if spawn.Cwd, err = ui.NamedFolder("working directory", o.cwd); err != nil {
		return spawn, err
	}
	if o.sessionID != "" {
		spawn.SessionID, err = agent.ParseSessionID(o.sessionID)
	}
	return spawn, err
}

// sayFolder prints where an agent works, if that is not the folder of this call.
func sayFolder(f *ui.Factory, r *agent.Record) {
	here, err := ui.Absolute(".")
	cwd, root := r.LaunchCwd(), ""
	if err != nil || here == cwd {
		return
	}
	if cwd == f.Opened.Project() {
		root = ", the project root,"
	}
	if r.OwnWorktree.Path != "" {
		f.Say("%s works in %s, its worktree", r.Handle, human.Quote(cwd))
		return
	}
	f.Say("%s works in %s%s not in the current folder; to choose another folder: --cwd DIR", r.Handle, human.Quote(cwd), root)
}
