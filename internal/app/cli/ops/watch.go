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
		Short: "Repair agents automatically, and tell a person what needs one",
		Long: ui.WithCodes(`Runs in the foreground of a terminal or of a service until it is interrupted (130). It
sleeps until a file changes or a process ends, judges the agent as triage does, and repairs
it as recover does: with the mildest step that helps, one agent at a time, each step in the
journal. It also checks agents at work by the clock, since nothing signals that an agent
stops making progress. It prints a line for each thing that it did, and nothing else: time,
handle, what, detail.

watch never touches an agent that works, waits for a person, is held, was stopped or exited
by itself with 0, or that its own restart policy will start again. An agent that has used up
its repairs is quarantined for the rest of that hour. The loss of a tmux server does not
count against its agents. A server that is lost three times in 10 minutes is held: for
an hour, or until an agent is resumed there, watch brings no agent back into it. pause
suspends the repairs, but not what is told, and unpause continues them. Only one watch runs per project; a second
one ends with 5.

--policy names a YAML file of yours. A file in the project, where agents write, must be
allowed first: nbs-worker allow --policy FILE. Every key may be left out. These are the
defaults, except for notify: without it nobody is told.

  agents: []              # handles; none: all of the project
  except: []
  max-level: 3            # 0 tell, 2 interrupt, compact, 3 resume, 4 start anew
  every: 5m               # until an agent at work is looked at without a sign
  patience: 15m           # how long a busy agent may show no progress
  repairs:
    per-hour: 12          # of all agents
    per-agent: 3          # of one agent, in an hour
  context:
    bands: 25,15,10       # percent left (NBS_CONTEXT_BANDS)
    compact: critical     # when an agent is compacted: low, critical, never
  notify:
    command: [/usr/local/bin/tell, --urgent]
    on: [waiting, held, crashed, repaired, context, paused]
    timeout: 10s
    per-hour: 30

The program must not be in the project. watch runs it without a shell, with only the
variables by which it reaches you, and with one JSON object on its stdin, described as
notify in "nbs-worker schema". The same thing is told once until it changes. If the program
fails, watch tries three times. An agent cannot call watch (8).`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker watch
  nbs-worker watch --policy ~/.config/nbs-worker/team.yaml
  nbs-worker watch --json | jq -r 'select(.what == "held") | .handle'`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Looked(runWatch(cmd.Context(), f, policy), "watch")
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", "YAML file of yours: what watch may do, and whom to tell")
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
	release, err := s.Store.LockWatch(s.Seconds())
	if err != nil {
		return err
	}
	defer release()
	signs, err := subscribe.To(&s.Observer, subscribe.Wanted{Files: []string{s.Store.Watching().PauseFile()}})
	if err != nil {
		return err
	}
	defer signs.Close()
	project := watch.NewProject(s, &policy)
	w := watch.Watch{Policy: policy, Team: project, Keeper: project, Signs: signs, Say: func(d watch.Action) { sayAction(f, d) }}
	if policy.Notify != nil {
		w.Teller = &teller{Program: policy.Notify.Program, project: s.Store.Project()}
	}
	if err := notify.Ready(); err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	f.Note("watching; what is done is said here")
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
	return opened.Policy(usual, s.Store.Allowed().Check)
}

func openPolicy(s *supervisor.Supervisor, file string) (watch.File, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return watch.File{}, err
	}
	return watch.OpenPolicy(path, s.Store.Project())
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
