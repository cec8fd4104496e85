package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/supervisor"
)

const readyWait = 30 * time.Second

// spawnOptions are the words of one spawn, as they were typed.
type spawnOptions struct {
	handle, model, permissionMode, cwd, sessionID string
	env, claudeArgs                               []string
	start                                         startOptions
}

func newSpawnCmd(f *factory) *cobra.Command {
	o := &spawnOptions{}
	cmd := &cobra.Command{
		Use:   "spawn <handle> [flags] [-- CLAUDE-ARGS...]",
		Short: "Start a new agent under a name",
		Long: withCodes(`Mints a session id, writes the record, starts claude in the tmux session
nbs-<handle>-live, waits until it is ready, checks that what runs is what was
recorded, and prints the handle, alone on stdout.

The default permission mode is bypassPermissions: the agent acts without asking.
The environment of this call reaches claude (nbs-worker help environment). The first
message stands on claude's command line, where other users of the machine can read
it: it is no place for secrets. With --prompt-file it is on no other command line.
When the start fails, the record stays: nbs-worker resume <handle> tries again.`,
			agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Conflict, agent.Unfit, agent.Held, agent.Interrupted),
		Example: `  nbs-worker spawn theologian --model opus --prompt 'Read PLAN.md and begin.'
  nbs-worker spawn scout --permission-mode acceptEdits --cwd ../lab --prompt-file task.md
  nbs-worker spawn old-friend --session-id 4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11
  nbs-worker spawn scout --dry-run`,
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args = args[:at]
			}
			return oneHandle(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.handle, o.claudeArgs = args[0], args[1:]
			return failed(runSpawn(cmd.Context(), f, o), "spawn", o.handle)
		},
	}
	o.bind(f, cmd)
	return cmd
}

func (o *spawnOptions) bind(f *factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.model, "model", "", "model: an alias like opus or sonnet[1m], or a full name (default: $NBS_MODEL, or Claude's choice)")
	flags.StringVar(&o.permissionMode, "permission-mode", "", "how claude asks before it acts (default: $NBS_PERMISSION_MODE, or bypassPermissions)")
	flags.StringVar(&o.cwd, "cwd", "", "working directory of the agent (default: the project root)")
	flags.StringArrayVar(&o.env, "env", nil, "NAME=VALUE for claude, kept in the record; not for secrets; repeatable")
	flags.StringVar(&o.sessionID, "session-id", "", "adopt this existing conversation instead of a new one")
	o.start.bind(cmd)
	f.jsonFlag(cmd)
}

func runSpawn(ctx context.Context, f *factory, o *spawnOptions) error {
	spawn, err := o.parse(f)
	if err != nil {
		return err
	}
	s, err := f.planner()
	if err != nil {
		return err
	}
	if o.start.dryRun || !f.opened.Exists() {
		plan, err := s.PlanSpawn(spawn)
		if err != nil {
			return err // and no project was made for an agent that cannot be
		}
		if o.start.dryRun {
			return f.printPlan(plan)
		}
		if s, err = f.founder(); err != nil {
			return err
		}
	}
	started, err := s.Spawn(ctx, spawn)
	return f.printStarted(started, err)
}

// parse checks what was typed and what the environment says.
func (o *spawnOptions) parse(f *factory) (supervisor.Spawn, error) {
	start, err := o.start.parse(f)
	if err != nil {
		return supervisor.Spawn{}, err
	}
	spawn := supervisor.Spawn{Handle: agent.Handle(o.handle), ClaudeArgs: o.claudeArgs, Start: start}
	spawn.Model, err = f.model(cmp.Or(o.model, os.Getenv("NBS_MODEL")))
	if err != nil {
		return spawn, err
	}
	mode := cmp.Or(o.permissionMode, os.Getenv("NBS_PERMISSION_MODE"), string(agent.BypassPermissions))
	if spawn.PermissionMode, err = agent.ParsePermissionMode(mode); err != nil {
		return spawn, err
	}
	if spawn.Env, err = agent.ParseEnv(o.env); err != nil {
		return spawn, err
	}
	if o.cwd != "" {
		if spawn.Cwd, err = absolute(o.cwd); err != nil {
			return spawn, agent.Errorf(agent.NotFound, "working directory: %w", err)
		}
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
	wait               time.Duration
	noWait             bool
	trust              bool
	dryRun             bool
}

func (o *startOptions) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.prompt, "prompt", "", "first message of this start; the white space around it is dropped")
	flags.StringVar(&o.promptFile, "prompt-file", "", "read the message from this file, - for stdin")
	flags.DurationVar(&o.wait, "wait", readyWait, "how long to wait until claude is ready and has the prompt; the answer is not waited for")
	flags.BoolVar(&o.noWait, "no-wait", false, "return as soon as claude runs")
	flags.BoolVar(&o.trust, "trust", false, "accept the folder's trust in Claude's configuration, as its dialog would")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the command that would run, and change nothing")
	cmd.MarkFlagsMutuallyExclusive("prompt", "prompt-file")
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		o.promptGiven = cmd.Flags().Changed("prompt") || cmd.Flags().Changed("prompt-file")
	}
	cmd.MarkFlagsMutuallyExclusive("wait", "no-wait")
}

func (o *startOptions) parse(f *factory) (supervisor.Start, error) {
	start := supervisor.Start{Prompt: o.prompt, Wait: o.wait, Trust: o.trust}
	if o.noWait {
		start.Wait = 0
	} else if o.wait <= 0 {
		return start, agent.Errorf(agent.BadInput, "--wait %s is not a time to wait", o.wait).
			Hint("to return at once: --no-wait")
	}
	if o.promptFile != "" {
		text, err := f.readPrompt(o.promptFile)
		if err != nil {
			return start, err
		}
		start.Prompt = text
	}
	start.Prompt = strings.TrimSpace(start.Prompt) // claude drops the space around it too
	if o.promptGiven && start.Prompt == "" {
		return start, agent.Errorf(agent.BadInput, "the prompt is blank")
	}
	return start, nil
}

const promptFileLimit = 1 << 20 // bytes; what claude takes is checked later

func (f *factory) readPrompt(path string) (string, error) {
	in := f.streams.In
	if path != "-" {
		file, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return "", agent.Errorf(agent.NotFound, "prompt file: %w", err)
		}
		if err != nil {
			return "", agent.Errorf(agent.BadInput, "prompt file: %w", err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, promptFileLimit))
	if err != nil {
		return "", agent.Errorf(agent.BadInput, "prompt file: %w", err)
	}
	if len(text) == 0 {
		return "", agent.Errorf(agent.BadInput, "prompt file %s is empty", agent.Quote(path))
	}
	if len(text) == promptFileLimit {
		return "", agent.Errorf(agent.BadInput, "prompt file %s has more than %d bytes", agent.Quote(path), promptFileLimit-1)
	}
	return string(text), nil
}

// printStarted reports a start. After a failure there is only the error.
func (f *factory) printStarted(started supervisor.Started, err error) error {
	if err != nil {
		return err
	}
	r := started.Record
	f.warnUnkept("keep", r.Handle, started.Unkept)
	f.sayRestored(r.Handle, started.Restored)
	f.sayLoss(r.Handle, started.Loss)
	if moved := started.Moved; moved != nil {
		f.say("%s: its folder is now %s; it was %s", r.Handle, moved.To, moved.From)
	}
	if started.Old { // it is up and it is what was asked for; what it does later is not known
		f.hint("claude %s is older than any that nbs-worker is tested with", agent.Quote(r.ClaudeVersion))
	}
	if f.json {
		return f.printJSON(newStartedJSON(started))
	}
	f.note("%s: %s, model %s, %s, session %s, tmux %s", r.Handle, started.Status.Word(),
		cmp.Or(string(r.Model), "Claude's choice"), r.PermissionMode, r.SessionID, r.TmuxSession)
	_, err = fmt.Fprintln(f.streams.Out, r.Handle)
	return err
}
