package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/agents"
	"nbs-worker/internal/app/cli/chat"
	"nbs-worker/internal/app/cli/crew"
	"nbs-worker/internal/app/cli/hosts"
	"nbs-worker/internal/app/cli/memory"
	"nbs-worker/internal/app/cli/messages"
	"nbs-worker/internal/app/cli/ops"
	"nbs-worker/internal/app/cli/skills"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// group is a group of commands in the help.
type group struct {
	title    string
	commands []ui.Command
}

const plumbing = "Plumbing:"

// groups returns the commands, grouped as in the help.
func groups() []group {
	return []group{
		{"Agents:", agents.Commands},
		{"Team:", crew.Commands},
		{"Messages:", messages.Commands},
		{"Health:", ops.Commands},
		{"Conversations:", chat.Commands},
		{"Memory:", memory.Commands},
		{"Hosts:", hosts.Commands},
		{plumbing, append(slices.Clone(skills.Commands), ui.Command{Name: "version", Make: newVersionCmd}, ui.Command{Name: "schema", Make: newSchemaCmd})},
	}
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
		Long: `nbs-worker starts Claude Code agents in tmux, each under a name, its handle. Whatever ended
an agent, one command brings it back: same conversation, same model, same permissions. All
that this needs is in a record, .nbs/sessions/<handle>.json, which is on disk before claude
starts.`,
		Example: `  nbs-worker spawn theologian 'Read PLAN.md and begin.' --model opus
  nbs-worker list
  nbs-worker send theologian 'Only chapter 2.'
  nbs-worker attach theologian    # go to its terminal
  nbs-worker resume theologian    # after a crash, a reboot, a killed tmux
  nbs-worker recover --all        # repair each with the mildest step
  nbs-worker stop theologian
  nbs-worker list --hosts         # here and at your hosts (help hosts)`,
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
			f.MendTerminal()
			f.CatchSignals(cmd.Context())
			return ui.CheckTexts(f.Args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.JSON {
				return fail.Errorf(fail.BadInput, "a command is needed").Hint("nbs-worker --help")
			}
			if !f.Streams.OutTTY {
				return cmd.Help()
			}
			return agents.FirstScreen(cmd.Context(), f)
		},

		// Printed by cobra's default: with a custom template the linker keeps text/template and all methods of all
		// types. That makes the program, and a launcher's resident memory, a fifth larger.
		Version: f.Version,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&f.Root, "root", "", "the folder that holds .nbs (default: $NBS_ROOT, or the nearest one upward)")
	flags.StringVar(&f.Host, "host", "", "run the command at a host (nbs-worker help host)")
	ui.CompleteWith(root, "host", f.CompleteHosts)
	flags.BoolVar(&f.Hosts, "hosts", false, "show what is here and at all hosts; for commands that show something")
	flags.StringVar(&f.Socket, "tmux-socket", "", "tmux server for new agents: a name, as for tmux -L, or a path (default: $NBS_TMUX_SOCKET, or your own server)")
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

const helpOfHelp = `Prints all about a command: what its --help says, the details that it leaves out, all flags,
and the exit codes in words. Or it prints a topic, which concerns several commands. Without an
argument it lists the commands and the topics.`

func addCommands(f *ui.Factory, root *cobra.Command, args []string) {
	if len(args) > 0 && addCommand(f, root, args[0]) {
		return
	}
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			cmd := c.Make(f)
			cmd.GroupID = g.title
			if c.Plumbing {
				cmd.GroupID = plumbing
			}
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommandGroupID(plumbing)
	root.SetCompletionCommandGroupID(plumbing)
	root.AddCommand(topics(root)...)
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = knownTopic
	help.Short, help.Long = "Explain a command or a topic, and leave nothing out", helpOfHelp
	help.Run, help.RunE = nil, func(help *cobra.Command, args []string) error {
		cmd, _, err := help.Root().Find(args)
		f.PrintManual(cmd)
		return err
	}
	help.ValidArgsFunction = completeTopics
}

// addCommand adds only the named command. It returns false if no command has the name.
func addCommand(f *ui.Factory, root *cobra.Command, name string) bool {
	for _, g := range groups() {
		for _, c := range g.commands {
			if c.Name == name {
				root.AddCommand(c.Make(f))
				root.CompletionOptions.DisableDefaultCmd = true // it would be created on each run
				return true
			}
		}
	}
	return false
}

// knownTopic refuses help about an unknown topic; cobra's own help would exit with 0.
func knownTopic(help *cobra.Command, args []string) error {
	cmd, rest, err := help.Root().Find(args)
	switch {
	case err == nil && len(rest) == 0:
		return nil
	case err == nil && cmd.HasParent():
		return fail.Errorf(fail.BadInput, "%s has no command %s", cmd.Name(), human.Quote(rest[0])).
			Hint("nbs-worker help %s", strings.TrimPrefix(cmd.CommandPath(), help.Root().Name()+" "))
	}
	return ui.ErrUnknownCommand(help.Root(), args[len(args)-1])
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
