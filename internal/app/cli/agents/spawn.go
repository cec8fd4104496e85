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
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

// spawnOptions are the options of one spawn, as typed.
type spawnOptions struct {
	handle, model, permissionMode, restart, cwd, sessionID string
	env, claudeArgs                                        []string
	foreground, mayManage, memory                          bool
	start                                                  startOptions
}

func newSpawnCmd(f *ui.Factory) *cobra.Command {
	o := &spawnOptions{}
	cmd := &cobra.Command{
		Use:   "spawn <handle> [PROMPT] [flags] [-- CLAUDE-ARGS...]",
		Short: "Start a new agent under a name",
		Long: ui.WithCodes(`Mints a session id, writes the record, starts claude in the tmux session
nbs-<handle>-live, waits until claude is ready, checks that what runs is what was
recorded, and prints the handle, alone on stdout.

The default permission mode is bypassPermissions: the agent acts without asking.

An agent gives a colleague that it spawns no more than it has itself: its own arguments,
variables and folder, and at most its own permission mode, which is then the default.
The prompt may not be a command of Claude's or name a file by @, and the only
--prompt-file is -. Anything more ends with 8, unless the agent was spawned with
--may-manage. A claude that was started by hand may give no more than its command line
says (8). Agents may bring a project to at most 50 agents, each at most three steps away
from a person (nbs-worker help environment).

With --restart the launcher starts the agent again by itself, in the same conversation,
when it ends: on-failure unless it exited cleanly, on-abnormal when a signal ended it,
always also after a clean exit; never after nbs-worker stopped it. The launcher waits 1,
2, 4 ... 60 s between starts, and for the end of a usage limit. It holds the agent after
five failures in ten minutes, or when nobody is logged in, claude refuses to start, or
another claude has the conversation. nbs-worker session shows all this.

The agent works in the project root, the folder that holds .nbs, found upward from the
current one. spawn says so if that is not the current folder; --cwd names another one.

Claude gets the environment of this call (nbs-worker help environment). The first message
is on claude's command line, where other users of the machine can read it: put no secrets
in it. With --prompt-file it is on no other command line. If the start fails, the record
stays: nbs-worker resume <handle> tries again.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker spawn theologian 'Read PLAN.md and begin.' --model opus
  nbs-worker spawn scout --permission-mode acceptEdits --cwd ../lab --prompt-file task.md
  nbs-worker spawn old-friend --session-id 4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11
  nbs-worker spawn scout --dry-run`,
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
	flags.StringVar(&o.model, "model", "", "model: an alias like opus or sonnet[1m], or a full name; exactly:NAME if it resembles a known one (default: $NBS_MODEL, or Claude's choice)")
	flags.StringVar(&o.permissionMode, "permission-mode", "", "how claude asks before it acts (default: $NBS_PERMISSION_MODE, or bypassPermissions)")
	flags.StringVar(&o.restart, "restart", string(agent.RestartNo), "when the launcher starts the agent again by itself: no, on-failure, on-abnormal, always")
	flags.StringVar(&o.cwd, "cwd", "", "working directory of the agent (default: the project root)")
	flags.StringArrayVar(&o.env, "env", nil, "NAME=VALUE for claude, kept in the record; not for secrets; repeatable")
	flags.StringVar(&o.sessionID, "session-id", "", "continue this existing conversation instead of a new one")
	flags.BoolVar(&o.mayManage, "may-manage", false, "let the agent give colleagues more than it has, and end and dismiss them, by nbs-worker")
	flags.BoolVar(&o.memory, "memory", false, "observe and remember what the agent does (nbs-worker help memory)")
	flags.BoolVar(&o.foreground, observe.Foreground, false, "run the agent in this terminal, without tmux, until claude ends")
	o.start.bind(cmd)
	f.WithJSON(cmd)
	for _, other := range []string{"json", "timeout", "no-wait"} {
		cmd.MarkFlagsMutuallyExclusive(observe.Foreground, other)
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
		return fail.Errorf(fail.BadInput, "spawn: the first message is one word to the shell, and %d were given", len(args)-1).
			Hint("nbs-worker spawn %s %s", args[0], ui.ShellQuote(strings.Join(args[1:], " ")))
	}
	if err := ui.OneHandle(cmd, args[:min(1, len(args))]); err != nil {
		return err
	}
	o.handle = args[0]
	o.start.promptGiven = cmd.Flags().Changed("prompt")
	if len(args) == most {
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
		return 0, fail.Errorf(fail.BadInput, "stdin is not a terminal").Hint("to run it in the background: nbs-worker spawn %s", o.handle)
	}
	s, err := f.Planner()
	if err != nil {
		return 0, err
	}
	if err := o.start.takePrompt(f, s, &spawn.Start); err != nil {
		return 0, err
	}
	if o.start.dryRun || !f.Opened.Exists() {
		plan, err := s.PlanSpawn(spawn)
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
	sayStarted(f, spawn.Handle, started)
	if err != nil {
		return 0, err
	}
	if o.cwd == "" {
		sayFolder(f, &started.Record)
	}
	return 0, f.ShowOne(startedOutcome(started))
}

// parse checks the options and the environment.
func (o *spawnOptions) parse(f *ui.Factory) (supervisor.Spawn, error) {
	start, err := o.start.parse(f, agent.Handle(o.handle))
	if err != nil {
		return supervisor.Spawn{}, err
	}
	start.InPlace = o.foreground
	spawn := supervisor.Spawn{Start: start, Spec: agent.Spec{
		Handle: agent.Handle(o.handle), ClaudeArgs: o.claudeArgs, MayManage: o.mayManage, Memory: o.memory,
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
	if spawn.Env, err = agent.ParseEnv(o.env); err != nil {
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
	f.Say("%s works in %s%s and not in the current folder; to choose another one: --cwd DIR", r.Handle, human.Quote(cwd), root)
}
