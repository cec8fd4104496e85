package agents

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/adopt"
)

// adoptOptions are the options of one adoption, as typed.
type adoptOptions struct {
	handle, session, model, permissionMode, cwd string
	pid                                         int
	env, claudeArgs                             []string
	modelGiven, argsGiven, list                 bool
}

func newAdoptCmd(f *ui.Factory) *cobra.Command {
	o := &adoptOptions{}
	cmd := &cobra.Command{
		Use:   "adopt <handle> {--pid PID | --tmux SESSION} [flags] [-- CLAUDE-ARGS...]",
		Short: "Make a claude that was started by hand an agent",
		Long: ui.WithCodes(`Writes a record for a running claude that was started by hand, so that stop, resume and the
other verbs work on it. adopt does not touch the process.

The conversation is the one in Claude's registry. Model, permission mode and arguments come
from the command line of the process, except for prompts; folder and configuration come from
the process itself. If something cannot be found out, adopt asks for it in an error.
--model '' leaves the choice to Claude. Arguments after -- replace those of the process.

Details:

Until its next resume, the agent has no launcher: nbs-worker does not see how it ends, does
not see its new conversation if claude ends after a /clear or /branch, and types queued messages
only at the next send. nbs-worker resume <handle> --force gives it a launcher. stop ends
claude and the processes of its tools, and leaves the rest of its tmux session alone.

--list shows your Claude sessions that have no record here, and conversations that several
processes have open, each with the command that adopts it, or why that is not possible.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Annotations: ui.Usual("list pid tmux model cwd permission-mode"),
		Example: `  nbs-worker adopt --list
  nbs-worker adopt theologian --pid 12345
  nbs-worker adopt scout --tmux work --model 'sonnet[1m]'
  nbs-worker adopt scout --pid 12345 --model '' -- --add-dir ../lab`,
		Args: o.positional,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.list {
				return ui.Failed(runAdoptList(cmd.Context(), f), "adopt", "--list")
			}
			return ui.Failed(runAdopt(cmd.Context(), f, o), "adopt", o.handle)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.pid, "pid", 0, "pid of the claude process")
	flags.StringVar(&o.session, "tmux", "", "exact name of its tmux session, in the server of --tmux-socket or in your own")
	flags.StringVar(&o.model, "model", "", "model for later starts; '' leaves it to Claude (default: the --model that it was started with)")
	flags.StringVar(&o.permissionMode, "permission-mode", "", "permission mode for later starts (default: the one that it was started with)")
	flags.StringVar(&o.cwd, "cwd", "", "folder for later starts (default: where it runs)")
	flags.StringArrayVar(&o.env, "env", nil, "NAME=VALUE for claude at later starts, stored in the record, not for secrets; repeatable")
	flags.BoolVar(&o.list, "list", false, "show what can be adopted, and change nothing")
	cmd.MarkFlagsMutuallyExclusive("pid", "tmux", "list")
	return f.WithJSON(cmd)
}

// positional splits the arguments: a handle, unless --list is given, and the arguments after --.
func (o *adoptOptions) positional(cmd *cobra.Command, args []string) error {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		args, o.claudeArgs, o.argsGiven = args[:at], args[at:], true
	}
	o.modelGiven = cmd.Flags().Changed("model")
	if o.list {
		if len(args) > 0 || o.argsGiven {
			return fail.Errorf(fail.BadInput, "adopt: --list takes no arguments").Hint("nbs-worker adopt --list")
		}
		return nil
	}
	if err := ui.OneHandle(cmd, args); err != nil {
		return err
	}
	o.handle = args[0]
	if !cmd.Flags().Changed("pid") && o.session == "" {
		return fail.Errorf(fail.BadInput, "adopt: --pid PID or --tmux SESSION is needed").
			Hint("to see them: nbs-worker adopt --list")
	}
	if cmd.Flags().Changed("pid") && o.pid < 2 {
		return fail.Errorf(fail.BadInput, "adopt: %d is not a process that can be adopted", o.pid)
	}
	return nil
}

func (o *adoptOptions) parse() (adopt.Request, error) {
	asked := adopt.Request{
		Handle: agent.Handle(o.handle), PID: o.pid, Session: o.session, ClaudeArgs: o.claudeArgs, ArgsGiven: o.argsGiven,
	}
	var err error
	if o.modelGiven {
		model, err := agent.ChooseModel(o.model)
		if err != nil {
			return asked, err
		}
		asked.Model = &model
	}
	if o.permissionMode != "" {
		if asked.PermissionMode, err = agent.ParsePermissionMode(o.permissionMode); err != nil {
			return asked, err
		}
	}
	if asked.Cwd, err = ui.NamedFolder("working directory", o.cwd); err != nil {
		return asked, err
	}
	asked.Env, err = agent.ParseEnv(o.env)
	return asked, err
}

func runAdopt(ctx context.Context, f *ui.Factory, o *adoptOptions) error {
	asked, err := o.parse()
	if err != nil {
		return err
	}
	s, err := f.Planner()
	if err != nil {
		return err
	}
	if !f.Opened.Exists() {
		if _, err := s.PlanAdopt(ctx, asked); err != nil {
			return err // before a project is created for nothing
		}
		if s, err = f.NewProject(); err != nil {
			return err
		}
	}
	adopted, err := s.Adopt(ctx, asked)
	if err != nil {
		return err
	}
	r := &adopted.Record
	f.WarnUnkept("adopt", r.Handle, adopted.Unkept)
	words := fmt.Sprintf("adopted, %s, pid %d, model %s, %s, session %s", adopted.Status.Word(), r.PID, ui.ModelName(r.Model), r.PermissionMode, r.SessionID)
	if len(r.ClaudeArgs) > 0 {
		words += ", with " + strings.Join(agent.Mapped(r.ClaudeArgs, ui.ShellQuote), " ")
	}
	if err := f.ShowOne(ui.Outcome{JSON: wire.NewAdopted(adopted), Handle: r.Handle, Words: words}); err != nil || f.JSON {
		return err
	}
	f.Hint("it has no launcher until its next start; to give it one now: nbs-worker resume %s --force", r.Handle)
	return nil
}

func runAdoptList(ctx context.Context, f *ui.Factory) error {
	s, err := f.Planner()
	if err != nil {
		return err
	}
	sessions, err := adopt.List(ctx, s.Project)
	if err != nil {
		return err
	}
	rows := agent.Mapped(sessions, wire.NewUnrecorded)
	if f.JSON {
		return f.PrintJSON(rows)
	}
	t := f.NewTable("PID", "SESSION", "STATE", "FOLDER", "TMUX", "TO ADOPT IT")
	t.Under = 3
	for _, u := range rows {
		t.Row(
			ui.Text(strconv.Itoa(u.PID)), ui.Text(string(u.SessionID)), ui.Text(u.State), ui.Text(u.Cwd), ui.Text(u.Tmux), ui.Text(cmp.Or(u.Command, "("+u.Obstacle+")")),
		)
	}
	if len(rows) == 0 {
		f.Note("all your Claude sessions already have a record here")
	}
	return t.Flush()
}
