package chat

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/remote"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/schedules"
)

// scheduleText explains the schedules.
const scheduleText = `.nbs/schedules.yaml says when turns are taken, messages are sent to agents, and conversations
are reset. nbs-worker serve runs the schedules, as you have allowed them: nbs-worker allow
--schedules. For example:

  zone: Europe/Berlin
  schedules:
    morning:
      cron: "30 7 * * 1-5"         # minute, hour, day, month, weekday
      prompt: "What is new?"
      deliver_to: telegram:1234    # the chat that gets the answer

Details:

An entry needs cron or every, and prompt, prompt_file, command or send. All else is
optional:

  zone: Europe/Berlin            # of all entries (default: UTC)
  reset_at: "04:00"              # reset conversations; the answer says so
  idle_reset: 12h                # and after this time without a message
  keys: [telegram:*, review]     # which conversations (default: all)
  schedules:
    morning:                     # a turn of its own, in no conversation
      cron: "30 7 * * 1-5"       # minute, hour, day, month, weekday
      zone: America/New_York
      prompt: "What is new?"     # or prompt_file: a path below the root,
                                 # or command: /daily, of .claude/commands
      system_prompt: "Be brief."
      model: haiku
      permission_mode: dontAsk   # nbs-worker help permissions
      allowed_tools: [Read, "Bash(git log *)"]
      on_denied: fail            # a refused tool is a failure; default:
                                 # answer, which says so
      turn_timeout: 1h           # end it after such a silence; default: 10m
      enrich: true               # give it what serve --enrich gives a chat
      missed: once               # run a missed time once; default: skip
      overlap: queue             # wait for the last run; default: skip
      deliver_to: telegram:1234  # the chat that gets the answer
    nudge:                       # a message to an agent
      every: 1h
      send: {to: theologian, text: "Go on."}

A run that waits for a login, an API that is down, or a person says so to its chat, once, and goes
on afterwards; its answer then says when it was due, and how many later runs were left out for it.
schedule list shows why a run waits.

A time that daylight saving skips is run right after the gap; one that occurs twice is run once.
Intervals follow the clock: every 15m runs at :00, :15, :30 and :45.`

func newScheduleCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Show the schedules, or run one now",
		Long: ui.WithCodes(scheduleText,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker schedule list
  nbs-worker schedule run morning`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fail.Errorf(fail.BadInput, "unknown command schedule %s", human.Quote(args[0])).Hint("nbs-worker schedule --help")
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newScheduleListCmd(f), newScheduleNextCmd(f), newScheduleRunCmd(f))
	return cmd
}

// plan is the project's schedule file, and how far its entries got.
type plan struct {
	file   *schedule.File
	lasts  map[string]schedule.Last
	barred error // why it does not run; nil if it is allowed
	talks  *conversations.Drawer
}

const reviewSchedules = "to review it: nbs-worker allow --schedules"

// openSchedules reads the schedule file. It may be viewed before it is allowed.
func openSchedules(f *ui.Factory) (plan, error) {
	s, err := f.Supervisor()
	if err != nil {
		return plan{}, err
	}
	text, err := s.Project.Store.Schedules().Text()
	if err != nil {
		return plan{}, err
	}
	p := plan{barred: checkSchedules(s.Project.Store, text), talks: s.Project.Store.Conversations()}
	if p.file, err = schedule.Parse(schedules.Name, text); err == nil {
		p.lasts, err = s.Project.Store.Schedules().Recall()
	}
	return p, err
}

// held returns why the last run of an entry waits; nil if it does not.
func (p *plan) held(e *schedule.Entry) *conversations.Held {
	if e.Send != nil {
		return nil
	}
	state, err := p.talks.Of(conversations.Key(e.Key())).State()
	if err != nil { // it has not run, or the list of conversations reports it
		return nil
	}
	return state.Held()
}

func checkSchedules(s *store.Store, text []byte) error {
	return s.Allowed().Check(schedule.SealKind, schedules.Name, text)
}

func newScheduleListCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the schedules",
		Long: ui.WithCodes(`Prints one line per entry: name, times, what it is, the next run, and the last run, with the
reason why it waits, such as a login that has expired. A run that waits is tried again by itself
unless it needs a person: nbs-worker conversation queue.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held),
		Example: `  nbs-worker schedule list
  nbs-worker schedule list --json | jq -r '.[]|select(.running).name'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return ui.Failed(runScheduleList(f), "schedule list") },
	}
	return f.WithJSON(cmd)
}

// listed returns the schedules for a verb that lists them; an empty list if the project has no schedules.
func listed(f *ui.Factory) (plan, error) {
	p, err := openSchedules(f)
	if err == nil && p.barred != nil {
		f.SayNote(p.barred.Error() + "; nothing in it runs until then")
		f.Hint(reviewSchedules)
	}
	if fail.KindOf(err) == fail.NotFound && f.Opened != nil { // otherwise there is no project
		f.Note("%s; to write them: nbs-worker schedule --help", err)
		return plan{file: &schedule.File{}}, nil
	}
	return p, err
}

func runScheduleList(f *ui.Factory) error {
	p, err := listed(f)
	if err != nil {
		return err
	}
	now := f.Now()
	next := func(e *schedule.Entry) time.Time {
		for _, coming := range schedule.Upcoming(&schedule.File{Entries: []*schedule.Entry{e}}, p.lasts, now, 1) {
			return coming.At
		}
		return time.Time{}
	}
	if f.JSON {
		return f.PrintJSON(agent.Mapped(p.file.Entries, func(e *schedule.Entry) wire.Schedule {
			return wire.NewSchedule(e, p.lasts[e.Name], next(e), p.barred == nil, p.held(e))
		}))
	}
	t := f.NewTable("NAME", "WHEN", "WHAT", "NEXT", "LAST")
	t.Under = 3
	for _, e := range p.file.Entries {
		what := "turn"
		switch {
		case e.Send != nil:
			what = "message to " + string(e.Send.To)
		case e.Rights != (conversations.Rights{}):
			what = "turn: " + e.Rights.String()
		}
		last := p.lasts[e.Name]
		latest := t.Time(last.ScheduledFor)
		if last.Running() {
			latest = ui.Cell{Text: latest.Text + ", not over", Colour: ui.Yellow}
		}
		if held := p.held(e); held != nil {
			latest = ui.Cell{Text: strings.TrimPrefix(fmt.Sprintf("%s, waits: %s", latest.Text, held.Reason), ", "), Colour: ui.Yellow}
		}
		if last.Skipped > 0 {
			latest.Text += "; " + human.Count(last.Skipped, "later run") + " left out"
		}
		t.Row(ui.Cell{Text: e.Name}, ui.Text(e.Times.String()), ui.Text(what), clockCell(f, e, next(e)), latest)
	}
	return t.Flush()
}

// clockCell formats a future time of an entry.
func clockCell(f *ui.Factory, e *schedule.Entry, at time.Time) ui.Cell {
	if f.Streams.OutTTY {
		return ui.Cell{Text: e.Times.Local(at)}
	}
	return ui.Cell{Text: at.UTC().Format(time.RFC3339)}
}

func newScheduleNextCmd(f *ui.Factory) *cobra.Command {
	const usual, most = 10, 1000
	count := usual
	cmd := &cobra.Command{
		Use:   "next",
		Short: "Show the next runs of all schedules",
		Long:  ui.WithCodes(`Prints one line per run, in order of time: time and name.`, fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held),
		Example: `  nbs-worker schedule next
  nbs-worker schedule next --count 100 --json | jq -r '.[].at'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if count < 1 || count > most {
				return fail.Errorf(fail.BadInput, "schedule next: --count must be 1 to %d", most)
			}
			return cobra.NoArgs(cmd, args)
		},
		RunE: func(*cobra.Command, []string) error { return ui.Failed(runScheduleNext(f, count), "schedule next") },
	}
	cmd.Flags().IntVar(&count, "count", usual, "number of runs")
	return f.WithJSON(cmd)
}

func runScheduleNext(f *ui.Factory, count int) error {
	p, err := listed(f)
	if err != nil {
		return err
	}
	coming := schedule.Upcoming(p.file, p.lasts, f.Now(), count)
	if f.JSON {
		return f.PrintJSON(agent.Mapped(coming, wire.NewScheduledRun))
	}
	t := f.NewTable("AT", "NAME")
	for _, run := range coming {
		t.Row(clockCell(f, run.Entry, run.At), ui.Cell{Text: run.Entry.Name})
	}
	return t.Flush()
}

func newScheduleRunCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run <name>",
		Short: "Run a schedule now",
		Long: ui.WithCodes(`Runs the entry now: takes its turn and prints the answer, or sends its message. The chat of the
entry also gets the answer, through nbs-worker serve, as after any other run; also if it comes later,
because the run is held. The next runs do not change.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker schedule run morning`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail.Errorf(fail.BadInput, "schedule run: one schedule is needed, %d given", len(args)).
					Hint("to see them: nbs-worker schedule list")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return ui.Failed(runScheduleRun(cmd.Context(), f, args[0]), "schedule run", args[0])
		},
	}
	return f.WithJSON(cmd)
}

func runScheduleRun(ctx context.Context, f *ui.Factory, name string) error {
	p, err := openSchedules(f)
	if err == nil && p.barred != nil {
		err = fail.Errorf(fail.KindOf(p.barred), "%w", p.barred).Hint(reviewSchedules)
	}
	if err != nil {
		return err
	}
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	due, err := p.file.ByHand(name, f.Now())
	if err != nil {
		return err
	}
	if due.Entry.Send != nil {
		team := &remote.Team{Supervisor: s, Notes: s.Project.Store.Deliveries()}
		words, err := team.Send(ctx, string(due.Entry.Send.To), due.ID(), due.Entry.Send.Text)
		if err != nil {
			return err
		}
		return f.Show(ui.Outcome{Handle: due.Entry.Send.To, Words: words}, "")
	}
	e := services.Conversations(s.Project)
	if err := e.CheckClaude(); err != nil {
		return err
	}
	key, say, err := remote.Scheduled(e, due)
	if err != nil {
		return err
	}
	told := make(chan error, 1)
	if due.Entry.DeliverTo == "" {
		told <- nil
	} else { // the server tells the chat, as after any other run
		go func() { told <- client.Run(ctx, s.Project.Store, name, due.ScheduledFor) }()
	}
	result, err := ask(ctx, e, key, say, nil)
	if err != nil {
		return err
	}
	err = answered(f, key, result, "")
	select {
	case failure := <-told:
		return cmp.Or(err, failure)
	case <-time.After(tellLimit):
		return cmp.Or(err, error(fail.Errorf(fail.TimedOut, "the chat was not told within %s; nbs-worker serve goes on trying", tellLimit)))
	}
}
