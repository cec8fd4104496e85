package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/launch"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/supervisor"
	"nbs-worker/internal/wire"
)

const readyWait = 30 * time.Second

// spawnOptions are the words of one spawn, as they were typed.
type spawnOptions struct {
	handle, model, permissionMode, restart, cwd, sessionID string
	env, claudeArgs                                        []string
	foreground, mayManage, memory                          bool
	start                                                  startOptions
}

func newSpawnCmd(f *factory) *cobra.Command {
	o := &spawnOptions{}
	cmd := &cobra.Command{
		Use:   "spawn <handle> [PROMPT] [flags] [-- CLAUDE-ARGS...]",
		Short: "Start a new agent under a name",
		Long: withCodes(`Mints a session id, writes the record, starts claude in the tmux session
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

Claude gets the environment of this call (nbs-worker help environment). The first message
is on claude's command line, where other users of the machine can read it: put no secrets
in it. With --prompt-file it is on no other command line. If the start fails, the record
stays: nbs-worker resume <handle> tries again.`,
			agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Conflict, agent.Unfit, agent.Held, agent.Interrupted),
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

func (o *spawnOptions) bind(f *factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.model, "model", "", "model: an alias like opus or sonnet[1m], or a full name (default: $NBS_MODEL, or Claude's choice)")
	flags.StringVar(&o.permissionMode, "permission-mode", "", "how claude asks before it acts (default: $NBS_PERMISSION_MODE, or bypassPermissions)")
	flags.StringVar(&o.restart, "restart", string(agent.RestartNo), "when the launcher starts the agent again by itself: no, on-failure, on-abnormal, always")
	flags.StringVar(&o.cwd, "cwd", "", "working directory of the agent (default: the project root)")
	flags.StringArrayVar(&o.env, "env", nil, "NAME=VALUE for claude, kept in the record; not for secrets; repeatable")
	flags.StringVar(&o.sessionID, "session-id", "", "continue this existing conversation instead of a new one")
	flags.BoolVar(&o.mayManage, "may-manage", false, "let the agent give colleagues more than it has, and end and dismiss them, by nbs-worker")
	flags.BoolVar(&o.memory, "memory", false, "observe and remember what the agent does (nbs-worker help memory)")
	flags.BoolVar(&o.foreground, observe.Foreground, false, "run the agent in this terminal, without tmux, until claude ends")
	o.start.bind(cmd)
	f.withJSON(cmd)
	for _, other := range []string{"json", "timeout", "no-wait"} {
		cmd.MarkFlagsMutuallyExclusive(observe.Foreground, other)
	}
	completeWith(cmd, "model", completeModels)
	completeWith(cmd, "permission-mode", completeModes)
	completeWith(cmd, "restart", completeRestarts)
}

// positional splits the arguments: a handle, its first message, and what follows --.
func (o *spawnOptions) positional(cmd *cobra.Command, args []string) error {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		args, o.claudeArgs = args[:at], args[at:]
	}
	const most = 2
	if len(args) > most {
		return agent.Errorf(agent.BadInput, "spawn: the first message is one word to the shell, and %d were given", len(args)-1).
			Hint("nbs-worker spawn %s %s", args[0], shellQuote(strings.Join(args[1:], " ")))
	}
	if err := oneHandle(cmd, args[:min(1, len(args))]); err != nil {
		return err
	}
	o.handle = args[0]
	o.start.promptGiven = cmd.Flags().Changed("prompt")
	if len(args) == most {
		if err := o.start.trust.checkNext(args[1]); err != nil {
			return err
		}
		if o.start.promptGiven || o.start.promptFile != "" {
			return agent.Errorf(agent.BadInput, "spawn: the first message is given twice").Hint("%s --help", cmd.CommandPath())
		}
		o.start.prompt, o.start.promptGiven = args[1], true
	}
	return nil
}

// runSpawn returns claude's exit code where it ran in the foreground.
func runSpawn(ctx context.Context, f *factory, o *spawnOptions) (int, error) {
	spawn, err := o.parse(f)
	if err != nil {
		return 0, err
	}
	if o.foreground && !f.streams.InTTY {
		return 0, agent.Errorf(agent.BadInput, "stdin is not a terminal").Hint("to run it in the background: nbs-worker spawn %s", o.handle)
	}
	s, err := f.confined(f.planner())
	if err != nil {
		return 0, err
	}
	if err := o.start.takePrompt(f, s, &spawn.Start); err != nil {
		return 0, err
	}
	if o.start.dryRun || !f.opened.Exists() {
		plan, err := s.PlanSpawn(spawn)
		if err != nil {
			return 0, err // before a project is made for an agent that cannot be started
		}
		if o.start.dryRun {
			return 0, f.showOne(f.planned(plan))
		}
		if s, err = f.founder(); err != nil {
			return 0, err
		}
	}
	if o.foreground {
		ready, err := s.PrepareSpawn(ctx, spawn)
		return runHere(ctx, f, s, spawn.Handle, ready, err)
	}
	started, err := s.Spawn(ctx, spawn)
	f.sayStarted(spawn.Handle, started)
	if err != nil {
		return 0, err
	}
	return 0, f.showOne(f.started(started))
}

// parse checks what was typed and what the environment says.
func (o *spawnOptions) parse(f *factory) (supervisor.Spawn, error) {
	start, err := o.start.parse(f, agent.Handle(o.handle))
	if err != nil {
		return supervisor.Spawn{}, err
	}
	start.InPlace = o.foreground
	spawn := supervisor.Spawn{Handle: agent.Handle(o.handle), ClaudeArgs: o.claudeArgs, MayManage: o.mayManage, Memory: o.memory, Start: start}
	spawn.Model, err = f.model(cmp.Or(o.model, os.Getenv("NBS_MODEL")))
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
	if spawn.Restart, err = agent.ParseRestartWord(o.restart); err != nil {
		return spawn, err
	}
	if spawn.Env, err = agent.ParseEnv(o.env); err != nil {
		return spawn, err
	}
	if spawn.Cwd, err = namedFolder("working directory", o.cwd); err != nil {
		return spawn, err
	}
	if o.sessionID != "" {
		spawn.SessionID, err = agent.ParseSessionID(o.sessionID)
	}
	return spawn, err
}

// model checks a model's name and points out a slip of the finger.
func (f *factory) model(name string) (agent.Model, error) {
	model, err := agent.ParseModel(name)
	if near := model.Suggestion(); err == nil && near != "" {
		f.hint("model %s is passed on as it is; did you mean: --model %s", agent.Quote(name), near)
	}
	return model, err
}

// startOptions are the flags that all starting verbs share.
type startOptions struct {
	prompt, promptFile string
	promptGiven        bool
	timeout            time.Duration
	noWait             bool
	trust              trustFlag
	dryRun             bool
}

func (o *startOptions) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.prompt, "prompt", "", "first message of this start; surrounding white space is dropped")
	flags.StringVar(&o.promptFile, "prompt-file", "", "read the message from this file, - for stdin")
	flags.DurationVar(&o.timeout, "timeout", readyWait, "how long to wait until claude is ready and has the prompt, not for the answer")
	flags.BoolVar(&o.noWait, "no-wait", false, "return as soon as claude runs")
	o.trust.bind(cmd)
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the command that would run, and change nothing")
	cmd.MarkFlagsMutuallyExclusive("prompt", "prompt-file")
	cmd.MarkFlagsMutuallyExclusive("timeout", "no-wait")
}

// parse checks what was typed, for the start of one agent, or of several when handle is "". A prompt
// file is read by takePrompt.
func (o *startOptions) parse(f *factory, handle agent.Handle) (launch.Start, error) {
	start := launch.Start{Prompt: o.prompt, Wait: o.timeout, Trust: o.trust.given, Progress: f.progress(handle)}
	var err error
	if start.TrustDir, err = namedFolder("the folder to trust", o.trust.dir); err != nil {
		return start, err
	}
	if o.noWait {
		start.Wait = 0
	} else if o.timeout <= 0 {
		return start, agent.Errorf(agent.BadInput, "--timeout %s is not a time to wait", o.timeout).
			Hint("to return at once: --no-wait")
	}
	if o.promptFile != "" && o.promptFile != "-" {
		if start.PromptFile, err = filepath.Abs(o.promptFile); err != nil {
			return start, err
		}
	}
	return start, trimPrompt(&start, o.promptGiven)
}

func trimPrompt(start *launch.Start, given bool) error {
	start.Prompt = strings.TrimSpace(start.Prompt) // claude drops the space around it too
	if given && start.Prompt == "" {
		return agent.Errorf(agent.BadInput, "the prompt is blank")
	}
	return nil
}

// takePrompt reads the prompt file, if one is given, after a check that the caller may: an agent
// must not learn which files there are.
func (o *startOptions) takePrompt(f *factory, s *supervisor.Supervisor, start *launch.Start) error {
	if o.promptFile == "" {
		return nil
	}
	if err := s.CheckWords(*start); err != nil {
		return err
	}
	return readPrompt(o.promptFile, f.streams.In, start)
}

func readPrompt(path string, in io.Reader, start *launch.Start) (err error) {
	if start.Prompt, err = readText("prompt file", path, in); err != nil {
		return err
	}
	return trimPrompt(start, true)
}

// progress returns a function that tells a person what a slow start waits for.
func (f *factory) progress(handle agent.Handle) func(string) {
	return func(what string) { f.note("%s: %s", handle, what) }
}

// sayStarted says what happened beyond a start, to scripts too, and also of one that failed or is late.
func (f *factory) sayStarted(handle agent.Handle, started supervisor.Started) {
	f.warnUnkept("keep", handle, started.Unkept)
	f.sayTranscript(handle, started.Restored, started.Loss)
	if started.Unsaid != "" {
		f.say("%s: its first prompt was never delivered, and the new one was sent in its place; the record keeps it: nbs-worker session %s --json", handle, handle)
	}
	if missed := started.Briefed.Missed; missed != nil {
		f.say("%s: it was briefed without a part of what there is: %s", handle, missed)
	}
	if moved := started.Moved; moved != nil {
		f.say("%s: its folder is now %s; it was %s", handle, moved.To, moved.From)
	}
	if started.Old { // it is up and it is what was asked for; what it does later is not known
		f.hint("claude %s is older than any that nbs-worker is tested with", agent.Quote(started.Record.ClaudeVersion))
	}
}

// started is the outcome of a start.
func (f *factory) started(started supervisor.Started) outcome {
	r := &started.Record
	words := fmt.Sprintf("%s, model %s, %s, session %s, tmux %s", started.Status.Word(), modelName(r.Model), r.LaunchPermissionMode(), r.SessionID, r.TmuxSession)
	return outcome{json: wire.NewStarted(started), handle: r.Handle, words: words}
}
