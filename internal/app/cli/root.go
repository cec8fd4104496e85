package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/agents"
	"nbs-worker/internal/app/cli/chat"
	"nbs-worker/internal/app/cli/memory"
	"nbs-worker/internal/app/cli/messages"
	"nbs-worker/internal/app/cli/ops"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
)

// commands returns the commands by name.
func commands() []ui.Command {
	return slices.Concat(agents.Commands, messages.Commands, chat.Commands, memory.Commands, ops.Commands, []ui.Command{
		{Name: "version", Make: newVersionCmd},
		{Name: "schema", Make: newSchemaCmd},
	})
}

// Tree returns the commands for programs that read them without running one, such as the man page generator.
func Tree() *cobra.Command {
	root := newRootCmd(newFactory(nil, ui.Streams{}))
	root.InitDefaultCompletionCmd() // a run adds it itself; it writes to the stdout of that moment
	return root
}

// newRootCmd creates the command tree for a command line. If the line begins with a command, the others are left out:
// creating them takes longer than parsing its flags.
func newRootCmd(f *ui.Factory, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "nbs-worker",
		Short: "Supervise a team of Claude Code agents in tmux",
		Long: `nbs-worker starts Claude Code agents under names, in tmux, and brings each one
back into the same conversation, on the same model, after whatever ended it.

An agent's name is its handle. Its record, .nbs/sessions/<handle>.json, holds all that
is needed to start it again, and has the session id before claude runs.

To write to a running agent: nbs-worker send <handle> TEXT. It waits until the agent is at
its prompt. To go to the agent's terminal: nbs-worker attach <handle>.`,
		Example: `  nbs-worker spawn theologian --model opus --prompt 'Read PLAN.md and begin.'
  nbs-worker list
  nbs-worker resume theologian      # after a crash, a reboot, a killed tmux
  nbs-worker recover --all          # whatever each agent needs, in the way that takes least
  nbs-worker session theologian     # record and live truth
  nbs-worker stop theologian`,
		SilenceErrors: true,
		SilenceUsage:  true,

		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return ui.ErrUnknownCommand(cmd, args...)
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			f.Verb = verbOf(cmd)
			return ui.CheckTexts(f.Args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.JSON {
				return fail.Errorf(fail.BadInput, "a command is needed").Hint("nbs-worker --help")
			}
			return cmd.Help()
		},

		// Printed by cobra's default: with a custom template the linker keeps text/template and all methods of all
		// types. That makes the program, and a launcher's resident memory, a fifth larger.
		Version: f.Version,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&f.Root, "root", "", "the project: the folder that holds .nbs (default: $NBS_ROOT, or found upward)")
	flags.StringVar(&f.Socket, "tmux-socket", "", "tmux server for new agents: a name as tmux -L takes it, or a path (default: $NBS_TMUX_SOCKET, or your own server)")
	root.SetHelpFunc(f.PrintHelp)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !cmd.HasParent() {
			return fail.Errorf(fail.BadInput, "%s", ui.FlagError(err)).Hint("%s --help", cmd.CommandPath())
		}
		verb := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
		return fail.Errorf(fail.BadInput, "%s: %s", verb, ui.FlagError(err)).Hint("%s --help", cmd.CommandPath())
	})
	root.Flags().BoolVar(&f.JSON, "json", false, "") // so that an unknown command is reported, and not its --json
	_ = root.Flags().MarkHidden("json")
	addCommands(f, root, args)
	return root
}

func addCommands(f *ui.Factory, root *cobra.Command, args []string) {
	for _, c := range commands() {
		if len(args) > 0 && args[0] == c.Name {
			root.AddCommand(c.Make(f))
			root.CompletionOptions.DisableDefaultCmd = true // it would be created on each run
			return
		}
	}
	for _, c := range commands() {
		root.AddCommand(c.Make(f))
	}
	root.AddCommand(newExitCodesTopic(), newEnvironmentTopic())
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = knownTopic
	help.ValidArgsFunction = completeTopics
}

// knownTopic refuses help about an unknown topic; cobra's own help would exit with 0.
func knownTopic(help *cobra.Command, args []string) error {
	if _, rest, err := help.Root().Find(args); err != nil || len(rest) > 0 {
		return ui.ErrUnknownCommand(help.Root(), args[len(args)-1])
	}
	return nil
}

// completeTopics completes the help topics.
func completeTopics(help *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, cmd := range help.Root().Commands() {
		if len(args) == 0 && !cmd.Hidden {
			names = append(names, cmd.Name()+"\t"+cmd.Short)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
