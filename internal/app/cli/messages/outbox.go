package messages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/message"
	"nbs-worker/internal/team/supervisor"
)

func newOutboxCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "outbox {list | drop | retry}",
		Short: "Show and change the messages that wait for agents",
		Long: ui.WithCodes(`Shows and changes the messages that nbs-worker send --queue keeps for agents. They are typed in
order when the agent becomes ready. A message has one of these states:

  waiting  it waits until the agent is ready
  sending  it is being typed
  unknown  it was typed, without proof yet; it is not typed again by itself
  failed   it cannot be typed to this agent

Unknown and failed messages do not block the others. Check with nbs-worker logs whether the
message arrived, then drop it or retry it. Messages that none of your commands queued, as in a
copied project, are never typed. Dismissing an agent drops its messages; the journal keeps the
beginning of each.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker outbox list
  nbs-worker outbox drop theologian 3f2a
  nbs-worker outbox retry theologian 3f2a`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fail.Errorf(fail.BadInput, "outbox: list, drop or retry?").Hint("nbs-worker outbox --help")
			}
			return ui.ErrUnknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newOutboxListCmd(f), newOutboxDropCmd(f), newOutboxRetryCmd(f), newOutboxDeliverCmd(f))
	return cmd
}

func newOutboxListCmd(f *ui.Factory) *cobra.Command {
	o := &ui.Selection{}
	return f.WithJSON(&cobra.Command{
		Use:   "list [<handle>... | @GROUP...]",
		Short: "List the kept messages",
		Long: ui.WithCodes(`Lists the messages that are kept for these agents, or for all, in the order of typing. In a
pipe the columns are handle, id, state, since when, why the last try failed, and the beginning
of the text. --json prints the whole text.`, fail.Failed, fail.NotFound, fail.BadInput, fail.Held),
		Example: `  nbs-worker outbox list theologian
  nbs-worker outbox list --json | jq -r '.[]|select(.state=="unknown").id'`,
		Args:              o.Optional,
		ValidArgsFunction: f.SelectionWhere(ui.AnyAgent),
		RunE: func(*cobra.Command, []string) error {
			return ui.Failed(runOutboxList(f, o), "outbox list")
		},
	})
}

func runOutboxList(f *ui.Factory, o *ui.Selection) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	handles, err := o.Named(s)
	if err != nil {
		return err
	}
	if len(handles) == 0 && s.Project.Store.Exists() {
		if handles, err = s.Project.Store.Handles(); err != nil {
			return err
		}
	}
	kept, broken := []wire.Kept{}, error(nil)
	for _, handle := range handles {
		of, err := keptOf(s, handle)
		kept = append(kept, of...)
		if err != nil { // the others are still listed
			broken = errors.Join(broken, fmt.Errorf("%s: %w", handle, err))
		}
	}
	if f.JSON {
		return errors.Join(f.PrintJSON(kept), broken)
	}
	return errors.Join(printKept(f, kept), broken)
}

// keptOf returns an agent's outbox. With an error it returns the readable messages.
func keptOf(s *supervisor.Supervisor, handle agent.Handle) ([]wire.Kept, error) {
	r, err := s.Project.Store.Load(handle)
	if err != nil {
		return nil, err
	}
	q := s.Project.Store.Outbox(r.Handle)
	all, err := q.Entries()
	return agent.Mapped(all, func(e queue.Entry) wire.Kept { return wire.NewKept(r.Handle, e, q.CheckSeal(&e) == nil) }), err
}

func printKept(f *ui.Factory, kept []wire.Kept) error {
	const beginning = 200 // characters of a text
	t := f.NewTable("HANDLE", "ID", "STATE", "SINCE", "REASON", "TEXT")
	t.Under = 2
	for _, k := range kept {
		state, since := string(k.State), ui.Text("")
		if !k.Allowed {
			state = "not allowed"
		}
		if k.Created != nil {
			since = t.Time(*k.Created)
		}
		if k.State == queue.Sending {
			k.Reason = "" // of the previous try
		}
		line, _, _ := strings.Cut(k.Text, "\n")
		t.Row(ui.Text(string(k.Handle)), ui.Text(k.ID), ui.Text(state), since, ui.Text(k.Reason), ui.Text(human.Cut(line, beginning, human.Letter)))
	}
	return t.Flush()
}

// keptCmd is a verb for one message in an outbox.
func keptCmd(f *ui.Factory, verb, short, long string, codes []fail.Kind, run func(context.Context, agent.Handle, string) error) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:     verb + " <handle> <id>",
		Short:   short,
		Long:    ui.WithCodes(long, codes...),
		Example: "  nbs-worker outbox " + verb + " theologian 3f2a",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fail.Errorf(fail.BadInput, "outbox %s: a handle and the id of a message are needed", verb).
					Hint("to see them: nbs-worker outbox list")
			}
			return ui.SomeHandles(cmd, args[:1])
		},
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.AnyAgent)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ui.Failed(run(cmd.Context(), agent.Handle(args[0]), args[1]), "outbox "+verb, args[0])
		},
	})
}

func newOutboxDropCmd(f *ui.Factory) *cobra.Command {
	return keptCmd(f, "drop", "Remove a kept message",
		`Removes the message, so that it is not typed. The beginning of its id is enough. If its receipt
was unknown, nbs-worker forgets that it may have arrived.`,
		[]fail.Kind{fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Held},
		func(ctx context.Context, handle agent.Handle, id string) error {
			s, err := f.Supervisor()
			if err != nil {
				return err
			}
			e, err := message.New(s).Drop(ctx, handle, id)
			if err != nil {
				return err
			}
			return f.ShowOne(ui.Outcome{JSON: wire.NewKept(e.Handle, e, s.Project.Store.Outbox(handle).CheckSeal(&e) == nil), Handle: e.Handle, Words: "dropped " + e.ID})
		})
}

func newOutboxRetryCmd(f *ui.Factory) *cobra.Command {
	return keptCmd(f, "retry", "Type a kept message again",
		`Types an unknown or failed message again. The beginning of its id is enough. The message keeps
its place: messages that wait before it are typed first. The receipt and the exit code are those
of nbs-worker send --queue.`,
		[]fail.Kind{fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted},
		func(ctx context.Context, handle agent.Handle, id string) error {
			s, err := f.Supervisor()
			if err != nil {
				return err
			}
			sender := message.New(s)
			receipt, err := sender.Retry(ctx, handle, id)
			made := receivedOutcome(f, receipt, &sendOptions{}, err)
			if made.JSON == nil {
				return err
			}
			if shown := f.ShowOne(made); err == nil {
				return shown
			}
			return err
		})
}

// deliverLimit is how long a deliverer waits for an agent that is almost ready.
const deliverLimit = time.Minute

func newOutboxDeliverCmd(f *ui.Factory) *cobra.Command {
	limit, tell := deliverLimit, false
	cmd := &cobra.Command{
		Use:    "deliver <handle>",
		Short:  "Type the messages that wait for an agent",
		Hidden: true,
		Long: ui.WithCodes(`An agent's launcher runs this when the agent may have become ready. It types the messages of the
outbox in order, as long as the agent accepts them. It prints nothing: the journal and
nbs-worker outbox list show what became of each message. A send on another node has it run with
--tell, which prints a line of JSON for each message.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example:           `  nbs-worker outbox deliver theologian`,
		Args:              ui.OneHandle,
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.AnyAgent)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.Supervisor()
			if err == nil {
				sender := message.New(s)
				err = sender.Deliver(cmd.Context(), agent.Handle(args[0]), message.Until(limit), func(d message.Delivered) {
					if tell {
						_ = json.NewEncoder(f.Streams.Out).Encode(message.NewTold(d)) // the outbox has it, too
					}
				})
			}
			return ui.Failed(err, "outbox deliver", args[0])
		},
	}
	cmd.Flags().BoolVar(&tell, "tell", false, "print what became of each message")
	cmd.Flags().DurationVar(&limit, "limit", deliverLimit, "how long a working agent is waited for; 0: without limit")
	return cmd
}
