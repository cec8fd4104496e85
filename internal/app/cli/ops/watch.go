package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/notify"
	"nbs-worker/internal/team/recovery/watch"
	"nbs-worker/internal/team/subscribe"
	"nbs-worker/internal/team/supervisor"
)

func newWatchCmd(f *ui.Factory) *cobra.Command {
	policy := ""
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Repair agents automatically, and notify you of the rest",
		Long: ui.WithCodes(`Runs in the foreground until it is interrupted, once per project. It sleeps until a file changes
or a process ends, judges the agent as triage does, and repairs it as recover does. It prints a
line for each thing that it did: time, handle, what, detail.

watch leaves alone an agent that works, waits for a person, is held, was stopped, exited with 0,
or will be restarted by its own policy. An agent that has used up its repairs is left alone for
the rest of that hour. pause suspends the repairs, but not the reports.

--policy names a file that says what watch may do, and which program it runs to notify you:
nbs-worker help policy.

--hosts watches the agents of all your hosts instead, and repairs nothing: it prints, and tells the
program of notify, what each of them needs a person for, and which host does not answer for a
minute. Each thing is told once, also over a cut. Hosts that you add or remove meanwhile are taken
up; one that refuses the login is asked again in an hour, or when hosts.yaml changes, or config,
id_* or known_hosts in ~/.ssh. It needs no project.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker watch
  nbs-worker watch --policy ~/.config/nbs-worker/team.yaml
  nbs-worker watch --hosts --policy ~/.config/nbs-worker/hosts-policy.yaml
  nbs-worker watch --json | jq -r 'select(.what == "held") | .handle'`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Hosts {
				return ui.Looked(watchHosts(cmd.Context(), f, policy), "watch")
			}
			return ui.Looked(runWatch(cmd.Context(), f, policy), "watch")
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", "YAML file: what watch may do, and which program it notifies (nbs-worker help policy)")
	return f.WithJSON(cmd)
}

func runWatch(ctx context.Context, f *ui.Factory, file string) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	policy, err := policyOf(s, file)
	if err != nil {
		return err
	}
	outliveReader()
	release, err := s.Project.Store.LockWatch(s.Project.Seconds())
	if err != nil {
		return err
	}
	defer release()
	signs, err := subscribe.To(s.Project, subscribe.Wanted{Files: []string{s.Project.Store.Watching().PauseFile()}})
	if err != nil {
		return err
	}
	defer signs.Close()
	project := watch.NewProject(s, &policy)
	w := watch.Watch{Policy: policy, Team: project, Keeper: project, Signs: signs, Say: func(d watch.Action) { sayAction(f, d) }}
	if policy.Notify != nil {
		w.Teller = &teller{Program: policy.Notify.Program, project: s.Project.Store.Project()}
	}
	if err := notify.Ready(); err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	f.Note("watching; actions are printed here")
	if err := w.Run(ctx); ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// outliveReader makes a write to a pipe without a reader fail instead of ending the process. Children do not inherit
// this, unlike an ignored signal.
func outliveReader() { signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) }

// policyOf returns the policy of the file, with defaults for missing fields and for a missing file.
func policyOf(s *supervisor.Supervisor, file string) (usual watch.Policy, err error) {
	usual = watch.Default()
	if usual.Bands, err = ui.ContextBands(); err != nil || file == "" {
		return usual, err
	}
	opened, err := openPolicy(s, file)
	if err != nil {
		return usual, err
	}
	return opened.Policy(usual, s.Project.Store.Allowed().Check)
}

func openPolicy(s *supervisor.Supervisor, file string) (watch.File, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return watch.File{}, err
	}
	return watch.OpenPolicy(path, s.Project.Store.Project())
}

// teller notifies a program of the user.
type teller struct {
	notify.Program
	project string
}

// Tell runs the program.
func (t *teller) Tell(ctx context.Context, notice watch.Notice) error {
	message, err := json.Marshal(wire.NewNotice(notice, t.project))
	if err != nil {
		return err
	}
	return t.Program.Tell(ctx, append(message, '\n'))
}

// sayAction prints what a watch did or failed to do.
func sayAction(f *ui.Factory, d watch.Action) {
	switch handle := cmp.Or(string(d.Handle), "-"); {
	case f.JSON:
		_ = f.PrintJSON(wire.NewWatchAction(d)) // it goes on even without a reader
	case f.Streams.OutTTY:
		word := f.Coloured(actionColours[d.Word], string(d.Word))
		fmt.Fprintf(f.Streams.Out, "%s  %s %s: %s\n", d.At.Local().Format(time.DateTime), handle, word, ui.OneLine(ui.Text(d.Detail).Text))
	default:
		fmt.Fprintf(f.Streams.Out, "%s\t%s\t%s\t%s\n", d.At.UTC().Format(time.RFC3339), handle, d.Word, ui.OneLine(ui.Text(d.Detail).Text))
	}
}

var actionColours = map[watch.Word]string{
	watch.DidRepair: ui.Green, watch.DidNotRepair: ui.Red, watch.SawHeld: ui.Red, watch.DidReachLimit: ui.Yellow, watch.DidNotTell: ui.Yellow,
}
