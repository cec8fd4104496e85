package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/host/setup"
	"nbs-worker/internal/human"
)

type addOptions struct {
	host.Host

	folderGiven, programGiven, agentsGiven, runningGiven bool

	install bool
	binary  string
	yes     bool
}

func newAddCmd(f *ui.Factory) *cobra.Command {
	o := &addOptions{}
	cmd := &cobra.Command{
		Use:   "add NAME DESTINATION",
		Short: "Add a host",
		Long: ui.WithCodes(`Adds a machine of yours, or changes one, in ~/.config/nbs-worker/hosts.yaml. DESTINATION is what
ssh takes: a host, user@host, or a name of your ~/.ssh/config, with a key or an agent: nbs-worker
types no password. NAME is how you name it here: alice@NAME is the agent alice there.

--folder is the project there. A relative one is below the home folder there, and so is one that
your shell made of ~/DIR. Without it, a new host has its project in the home folder itself, and one
that was added before keeps its folder.

Details:

--agents and --running are limits for what your commands of this machine start there: spawn, fork,
up, resume, recover, and move. They are not for commands that are typed there.

--install copies this program to ~/.local/bin/nbs-worker there, after it has asked you. The host
checks the checksum and starts the copy once, before it replaces an older one. If the host has
another system or architecture, --binary names a program that was built for it.`,
			fail.Failed, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker host add build1 build1.example.org --folder src/app
  nbs-worker host add gpu me@10.0.0.7 --folder ~/app --running 4 --install
  nbs-worker host add pi pi.local --install --binary ./nbs-worker-arm64`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fail.Errorf(fail.BadInput, "host add: a name and a destination are needed, %d given", len(args)).
					Hint("nbs-worker host add build1 build1.example.org")
			}
			o.Name, o.Destination = args[0], args[1]
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.folderGiven, o.programGiven = cmd.Flags().Changed("folder"), cmd.Flags().Changed("program")
			o.agentsGiven, o.runningGiven = cmd.Flags().Changed("agents"), cmd.Flags().Changed("running")
			return ui.Failed(runAdd(cmd.Context(), f, o), "host add", o.Name)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Folder, "folder", "", "the project's folder there")
	flags.StringVar(&o.Program, "program", "", "path of nbs-worker there (default: that in ~/.local/bin or in the PATH)")
	flags.IntVar(&o.Limits.Agents, "agents", 0, "start no more agents in the project there than this; 0: any number")
	flags.IntVar(&o.Limits.Running, "running", 0, "have no more agents run there than this; 0: any number")
	flags.BoolVar(&o.install, "install", false, "copy this program there")
	flags.StringVar(&o.binary, "binary", "", "with --install: another program to copy")
	flags.BoolVar(&o.yes, "yes", false, "with --install: do not ask")
	_ = cmd.MarkFlagFilename("binary")
	return cmd
}

func runAdd(ctx context.Context, f *ui.Factory, o *addOptions) error {
	if (o.binary != "" || o.yes) && !o.install {
		return fail.Errorf(fail.BadInput, "--binary and --yes belong to --install")
	}
	if o.install && o.Program != "" {
		return fail.Errorf(fail.BadInput, "--install puts the program where it is found without --program")
	}
	o.Folder = there(o.Folder, os.Getenv("HOME"))
	if err := o.Check(); err != nil {
		return err
	}
	if err := f.CheckPerson("add a host"); err != nil {
		return err
	}
	file, err := host.FileOf(os.Environ())
	if err != nil {
		return err
	}
	if o.install { // before it is written, so that a host that cannot have the program is not added
		known, err := host.Load(os.Environ())
		if err != nil {
			return err
		}
		given := o.Host
		o.in(slices.Clone(known))
		if err := install(ctx, f, o); err != nil {
			return o.notDone(err)
		}
		o.Host = given
	}
	did := ""
	if err := file.Change(ctx, func(all host.Hosts) (host.Hosts, error) {
		all, did = o.in(all)
		return all, nil
	}); err != nil {
		return err
	}
	if err := f.Show(ui.Outcome{Handle: agent.Handle(o.Name), Words: did}, ""); err != nil {
		return err
	}
	f.Note("to check it: nbs-worker host check %s", o.Name)
	return nil
}

// there returns a folder for another machine: the local shell has made a path of this home folder out of ~.
func there(dir, home string) string {
	if below, err := filepath.Rel(home, dir); filepath.IsAbs(home) && err == nil && filepath.IsLocal(below) {
		dir = below
	}
	if dir == "." {
		return ""
	}
	return host.BelowHome(dir)
}

// in returns the hosts with this one, and what that changes.
func (o *addOptions) in(all host.Hosts) (_ host.Hosts, did string) {
	i := slices.IndexFunc(all, func(h host.Host) bool { return h.Name == o.Name })
	if i < 0 {
		return append(all, o.Host), "added"
	}
	known, did := all[i], "changed"
	if known.Destination != o.Destination {
		did = "changed; its destination was " + known.Destination
		known.Destination = o.Destination
	}
	if o.folderGiven {
		known.Folder = o.Folder
	}
	if o.programGiven || o.install {
		known.Program = o.Program
	}
	if o.agentsGiven {
		known.Limits.Agents = o.Limits.Agents
	}
	if o.runningGiven {
		known.Limits.Running = o.Limits.Running
	}
	if known == all[i] {
		did = "was added before"
	}
	o.Host, all[i] = known, known
	return all, did
}

// install copies a program to a host, after a question.
func install(ctx context.Context, f *ui.Factory, o *addOptions) error {
	path, err := os.Executable()
	if o.binary != "" {
		path, err = o.binary, nil
	}
	if err != nil {
		return err
	}
	program, err := setup.ReadProgram(path)
	if err != nil {
		return err
	}
	note := func(text string) { f.Note("%s", text) }
	answered := link.Later(note, "waiting for "+o.Name)
	system, err := setup.SystemOf(ctx, o.Host)
	answered()
	if err != nil {
		return err
	}
	if system != program.System {
		return fail.Errorf(fail.Unfit, "%s is %s, and %s is a program for %s; nothing was copied", o.Name, system, human.Quote(path), program.System).
			Hint("take it from a release: tar -xzf nbs-worker-VERSION-%s-%s.tar.gz", system.OS, system.Arch).
			Hint("or build one from the source of nbs-worker: CGO_ENABLED=0 GOOS=%s GOARCH=%s go build -o nbs-worker-%[2]s ./cmd/nbs-worker", system.OS, system.Arch).
			Hint("then copy that one: %s --binary ./nbs-worker-%s", o.again(), system.Arch)
	}
	answered = link.Later(note, "waiting for "+o.Name)
	before, err := setup.VersionAt(ctx, o.Host)
	answered()
	if err != nil {
		return err
	}
	f.Line(fmt.Sprintf("%s is %s. To copy to ~/%s there: %s, %s", o.Name, system, setup.Installed, path, human.Bytes(uint64(len(program.Text)))))
	f.Line("sha256 " + program.Sum)
	if before != "" {
		f.Line("it replaces " + before)
	}
	again := o.again() + " --yes"
	if o.binary != "" {
		again += " --binary " + ui.LineQuote(o.binary)
	}
	if err := confirmed(ctx, f, o.yes, fmt.Sprintf("copy it to %s? [y/N] ", o.Name), again); err != nil {
		return err
	}
	copied := link.Later(note, "copying it to "+o.Name)
	now, err := setup.Install(ctx, o.Host, program)
	copied()
	if err != nil {
		return err
	}
	f.Line(o.Name + " has " + now + " now")
	return nil
}

// notDone adds to the error of an unreachable host what that means for the hosts of this user.
func (o *addOptions) notDone(err error) error {
	far, is := errors.AsType[*link.Unreachable](err)
	if !is {
		return err
	}
	failed := fail.Errorf(fail.KindOf(err), "%w; your hosts were not changed", far)
	if far.Reason.Passes() {
		return failed.Hint("to see how far ssh gets: ssh -v %s true", o.Destination)
	}
	failed.Hints = fail.HintsOf(err)
	return failed
}

// again returns the command line of this call, without the answer to its question and the program to copy.
func (o *addOptions) again() string {
	line := "nbs-worker host add " + o.Name + " " + o.Destination
	if o.folderGiven {
		line += " --folder " + ui.LineQuote(cmp.Or(o.Folder, "."))
	}
	if o.agentsGiven {
		line += fmt.Sprintf(" --agents %d", o.Limits.Agents)
	}
	if o.runningGiven {
		line += fmt.Sprintf(" --running %d", o.Limits.Running)
	}
	return line + " --install"
}

// confirmed asks before something is changed at a host; again is the command that does not ask.
func confirmed(ctx context.Context, f *ui.Factory, yes bool, question, again string) error {
	switch {
	case yes:
		return nil
	case !f.OnTerminal():
		return fail.Errorf(fail.BadInput, "nothing was changed: that needs a yes, and there is no terminal to ask on").Hint("to confirm: %s", again)
	}
	return f.Confirm(ctx, question, fail.Errorf(fail.Interrupted, "nothing was changed"))
}

// theHosts returns the named hosts, or all of them. Errors: NotFound.
func theHosts(names []string) (host.Hosts, error) {
	known, err := host.Load(os.Environ())
	if err != nil || len(names) == 0 {
		return known, err
	}
	var all host.Hosts
	var errs []error
	for _, name := range names {
		h, err := known.Find(name)
		if err == nil && !slices.Contains(all, h) {
			all = append(all, h)
		}
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}
