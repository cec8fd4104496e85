package ops

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/export"
)

type exportOptions struct{ dir, policy, image string }

const exportText = `systemd: prints four units for your own systemd, or writes them to --dir:

  nbs-tmux.service         the agents' tmux server, as a service of its
                           own, so that no logout and no restart of another
                           service ends it
  nbs-recover-*.service    at boot: nbs-worker recover --all
  nbs-watch-*.service      from then on: nbs-worker watch
  nbs-serve-*.service      nbs-worker serve: chats and schedules

Details:

The units hold the paths of this program, of tmux and of the project, the server of
--tmux-socket, and the present values of PATH, NBS_CLAUDE, NBS_CONTEXT_BANDS, CLAUDE_CONFIG_DIR,
XDG_STATE_HOME, TMUX_TMPDIR and IS_SANDBOX. They also read ~/.config/nbs-worker/environment, a
file with NAME=value lines, if it exists: put API keys there.

To enable them: systemctl --user daemon-reload, then systemctl --user enable --now with their
names. They run while you are logged in; with loginctl enable-linger also from boot and after a
logout.

launchd: the same four services as LaunchAgents, for macOS; write them with
--dir ~/Library/LaunchAgents. They run from each login at the Mac's screen until its logout: only
there can claude read the login keychain. macOS does not end that tmux server with a terminal
application. --dir also prints the commands that load and remove them. What they print is in logs/
of your state folder. A service that fails in a way that you have to mend stays down, and its log
says so. Built, not run: this was not tried on a Mac yet.

slurm: prints a script for sbatch. The job runs nbs-worker run HANDLE --job NAME. While it runs
or waits, a second copy waits. After a lost node, a time limit or a preemption, Slurm starts it
again, and the agent goes on in its conversation. Where Slurm's commands are, nbs-worker list
shows the job, its node or why it waits; attach goes there, and stop and dismiss end the job, as
scancel does. What does not work from other machines (nbs-worker help slurm) runs in the job:

  srun --jobid ID --overlap --pty nbs-worker compact HANDLE

The project, CLAUDE_CONFIG_DIR (or your home folder) and XDG_STATE_HOME must be on a file system
that the nodes share.

kubernetes: prints the manifest of a StatefulSet with a volume, for kubectl apply. It is
generated, not run: nbs-worker is not tested on Kubernetes.

export replaces only files that it has written itself.`

func newExportCmd(f *ui.Factory) *cobra.Command {
	o := &exportOptions{}
	cmd := &cobra.Command{
		Use:   "export {systemd | launchd | slurm <handle> | kubernetes <handle> --image IMAGE}",
		Short: "Write services for the team, or a job for one agent",
		Long:  ui.WithCodes(exportText, fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit),
		Example: `  nbs-worker export systemd
  nbs-worker export systemd --dir ~/.config/systemd/user \
      --policy ~/.config/nbs-worker/team.yaml
  nbs-worker export launchd --dir ~/Library/LaunchAgents
  nbs-worker export slurm theologian | sbatch --mem 4G
  nbs-worker export kubernetes theologian --image registry/agent:1`,
		Args:              exported,
		ValidArgsFunction: ui.Once(cobra.FixedCompletions([]cobra.Completion{systemd, launchd, slurm, kubernetes}, cobra.ShellCompDirectiveNoFileComp)),
		RunE: func(_ *cobra.Command, args []string) error {
			if !isManager(args[0]) {
				return ui.Failed(runExportJob(f, o, args[0], agent.Handle(args[1])), "export "+args[0], args[1])
			}
			return ui.Failed(runExport(f, o, args[0]), "export "+args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.dir, "dir", "", "write the files into this folder, and print their paths")
	flags.StringVar(&o.policy, "policy", "", "policy file of the watch")
	flags.StringVar(&o.image, "image", "", "container image with nbs-worker, claude, tmux and git; for kubernetes")
	_ = cmd.MarkFlagDirname("dir")
	return f.WithJSON(cmd)
}

// What can be exported.
const (
	systemd    = "systemd"
	launchd    = "launchd"
	slurm      = "slurm"
	kubernetes = "kubernetes"
)

// isManager reports whether what is exported is for the services of the whole team.
func isManager(what string) bool { return what == systemd || what == launchd }

// exported checks the arguments.
func exported(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 1 && isManager(args[0]):
		return nil
	case len(args) > 0 && (args[0] == slurm || args[0] == kubernetes):
		return ui.OneHandle(cmd, args[1:])
	}
	return fail.Errorf(fail.BadInput, "export: the argument systemd, launchd, slurm or kubernetes is needed").
		Hint("nbs-worker export systemd").Hint("nbs-worker export launchd").Hint("nbs-worker export slurm HANDLE")
}

// runExportJob prints the job of one agent, or writes it to a file.
func runExportJob(f *ui.Factory, o *exportOptions, what string, handle agent.Handle) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	if o.dir != "" {
		if err := s.Caller.CheckWrite("jobs"); err != nil { // they would run as the user
			return err
		}
	}
	r, err := s.Project.Store.Load(handle)
	if err != nil {
		return err
	}
	var job export.Unit
	if what == slurm {
		if job, err = ui.Job(s.Project, r.Handle).Slurm(); err == nil {
			s.Project.NoteSlurmJob(&r, strings.TrimSuffix(job.Name, ".sh"))
		}
	} else {
		job, err = ui.Container(s.Project, r.Handle, o.image).Kubernetes()
	}
	if err != nil {
		return err
	}
	var paths []string
	if o.dir != "" {
		if paths, err = export.Write(o.dir, []export.Unit{job}); err != nil {
			return err
		}
	}
	switch {
	case f.JSON:
		return f.PrintJSON(wire.NewUnits([]export.Unit{job}, paths))
	case paths != nil:
		_, err = fmt.Fprintln(f.Streams.Out, human.Legible(paths[0]))
	default:
		_, err = fmt.Fprint(f.Streams.Out, human.Legible(job.Text))
	}
	return err
}

// runExport prints the services of the team, or writes them to files.
func runExport(f *ui.Factory, o *exportOptions, manager string) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	if o.dir != "" {
		if err := s.Caller.CheckWrite("units"); err != nil { // they would run as the user
			return err
		}
	}
	needs, generate := ui.Team, export.Team.Systemd
	if manager == launchd {
		needs, generate = ui.LaunchAgents, export.Team.Launchd
	}
	wanted, err := needs(s.Project)
	if err != nil {
		return err
	}
	if o.policy != "" {
		if wanted.Policy, err = filepath.Abs(o.policy); err != nil {
			return err
		}
	}
	units, err := generate(wanted)
	if err != nil {
		return err
	}
	var paths []string
	if o.dir != "" {
		if paths, err = export.Write(o.dir, units); err == nil && manager == launchd {
			err = wanted.MakeLogs()
		}
	}
	if err != nil {
		return err
	}
	return printUnits(f, manager, units, paths)
}

// printUnits prints the units, or the paths they were written to.
func printUnits(f *ui.Factory, manager string, units []export.Unit, paths []string) error {
	switch {
	case f.JSON:
		return f.PrintJSON(wire.NewUnits(units, paths))
	case paths == nil:
		_, err := fmt.Fprintln(f.Streams.Out, strings.Join(agent.Mapped(units, func(u export.Unit) string { return "# " + u.Name + "\n" + human.Legible(u.Text) }), "\n"))
		return err
	case manager == launchd:
		load, unload := export.Bootstrap(os.Getuid(), agent.Mapped(paths, absolute))
		f.Note("they start at your next login at the screen; to start them now: %s", load)
		f.Note("to remove them, and end the agents in their tmux server: %s; rm %s", unload, strings.Join(agent.Mapped(paths, human.ShellWord), " "))
	default:
		names := agent.Mapped(units, func(u export.Unit) string { return u.Name })
		f.Note("to enable them: systemctl --user daemon-reload; systemctl --user enable --now %s", strings.Join(names, " "))
		f.Note("to run them from boot, and after a logout: loginctl enable-linger")
		f.Note("to remove them: systemctl --user disable --now %s; rm %s", strings.Join(names, " "), strings.Join(agent.Mapped(paths, human.ShellWord), " "))
	}
	_, err := fmt.Fprintln(f.Streams.Out, human.Legible(strings.Join(paths, "\n")))
	return err
}

// absolute returns a path that does not depend on the folder in which a command is typed.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
