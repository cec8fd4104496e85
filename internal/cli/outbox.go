package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/message"
	"nbs-worker/internal/wire"
)

func newOutboxCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "outbox {list | drop | retry}",
		Short: "What waits to be written to agents",
		Long: withCodes(`Shows and changes what nbs-worker send --queue keeps for agents. It is typed in its order
when the agent becomes ready: the launcher is told of each end of a turn and of each start.
Its state is one of:

  waiting  for the agent to be ready
  sending  it is being typed
  unknown  it was submitted, and no proof came in time; it is not typed again by itself
  failed   it cannot be typed to this agent

What is unknown or failed is in nobody's way: look with nbs-worker logs whether it arrived,
and drop it, or have it typed again. What was not put there by a command of this user for
this agent, as in a project that was copied, is never typed. Dismissing an agent drops its
messages; the journal keeps the beginning of what was dropped.`,
			agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Conflict, agent.Unfit, agent.Held),
		Example: `  nbs-worker outbox list
  nbs-worker outbox drop theologian 3f2a
  nbs-worker outbox retry theologian 3f2a`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return agent.Errorf(agent.BadInput, "outbox: list, drop or retry?").Hint("nbs-worker outbox --help")
			}
			return errUnknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newOutboxListCmd(f), newOutboxDropCmd(f), newOutboxRetryCmd(f), newOutboxDeliverCmd(f))
	return cmd
}

func newOutboxListCmd(f *factory) *cobra.Command {
	return f.withJSON(&cobra.Command{
		Use:   "list [<handle>...]",
		Short: "List the messages that are kept",
		Long: withCodes(`Lists what is kept for these agents, or for all, in the order in which it is typed.
In a pipe the columns are handle, id, state, since when, the reason of the last try and the
beginning of the text. --json has the whole text.`, agent.Failed, agent.NotFound, agent.BadInput),
		Example: `  nbs-worker outbox list theologian
  nbs-worker outbox list --json | jq -r '.[] | select(.state == "unknown") | .id'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return someHandles(cmd, args)
		},
		ValidArgsFunction: f.handlesWhere(anybody),
		RunE: func(_ *cobra.Command, args []string) error {
			return failed(runOutboxList(f, handlesOf(args)), "outbox list")
		},
	})
}

func runOutboxList(f *factory, handles []agent.Handle) error {
	s, err := f.supervisor()
	if err != nil {
		return err
	}
	if len(handles) == 0 && s.Store.Exists() {
		if handles, err = s.Store.Handles(); err != nil {
			return err
		}
	}
	kept := []wire.Kept{}
	for _, handle := range handles {
		r, err := s.Store.Load(handle)
		if err != nil {
			return err
		}
		q := s.Store.Outbox(r.Handle)
		all, err := q.Entries()
		if err != nil {
			return err
		}
		for _, e := range all {
			kept = append(kept, wire.NewKept(r.Handle, e, q.CheckSeal(&e) == nil))
		}
	}
	if f.json {
		return f.printJSON(kept)
	}
	return f.printKept(kept)
}

func (f *factory) printKept(kept []wire.Kept) error {
	t := f.newTable("HANDLE", "ID", "STATE", "SINCE", "REASON", "TEXT")
	for _, k := range kept {
		state, since := string(k.State), ""
		if !k.Allowed {
			state = "not allowed"
		}
		if k.Created != nil {
			since = k.Created.Format(time.RFC3339)
		}
		line, _, _ := strings.Cut(k.Text, "\n")
		t.row(text(string(k.Handle)), text(k.ID), text(state), text(since), text(k.Reason), text(line))
	}
	return t.flush()
}

// keptCmd is a verb for one message that is kept.
func keptCmd(f *factory, verb, short, long string, codes []agent.Kind, run func(context.Context, agent.Handle, string) error) *cobra.Command {
	return f.withJSON(&cobra.Command{
		Use:     verb + " <handle> <id>",
		Short:   short,
		Long:    withCodes(long, codes...),
		Example: "  nbs-worker outbox " + verb + " theologian 3f2a",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return agent.Errorf(agent.BadInput, "outbox %s: a handle and the id of a message are needed", verb).
					Hint("to see them: nbs-worker outbox list")
			}
			return someHandles(cmd, args[:1])
		},
		ValidArgsFunction: once(f.handlesWhere(anybody)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return failed(run(cmd.Context(), agent.Handle(args[0]), args[1]), "outbox "+verb, args[0])
		},
	})
}

func newOutboxDropCmd(f *factory) *cobra.Command {
	return keptCmd(f, "drop", "Remove a message that is kept",
		`Removes the message; the beginning of its id is enough. It is not typed any more, and if
its receipt was unknown, it is forgotten that it may have arrived. Only a person does this.`,
		[]agent.Kind{agent.Failed, agent.NotFound, agent.BadInput, agent.Conflict, agent.Held},
		func(ctx context.Context, handle agent.Handle, id string) error {
			s, err := f.supervisor()
			if err != nil {
				return err
			}
			sender := message.Sender{Supervisor: s}
			e, err := sender.Drop(ctx, handle, id)
			if err != nil {
				return err
			}
			return f.showOne(outcome{json: wire.NewKept(e.Handle, e, sender.Store.Outbox(handle).CheckSeal(&e) == nil), handle: e.Handle, words: "dropped " + e.ID})
		})
}

func newOutboxRetryCmd(f *factory) *cobra.Command {
	return keptCmd(f, "retry", "Have a message typed again",
		`Has the message typed again of which nobody knows whether it arrived, or which could not be
typed; the beginning of its id is enough. It takes its old place in the order, and what waits
before it is typed first. The receipt and the exit code are those of nbs-worker send --queue.
Only a person does this.`,
		[]agent.Kind{agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Conflict, agent.Unfit, agent.Held, agent.Interrupted},
		func(ctx context.Context, handle agent.Handle, id string) error {
			s, err := f.supervisor()
			if err != nil {
				return err
			}
			sender := message.Sender{Supervisor: s}
			receipt, err := sender.Retry(ctx, handle, id)
			made := f.received(receipt, &sendOptions{}, err)
			if made.json == nil {
				return err
			}
			if shown := f.showOne(made); err == nil {
				return shown
			}
			return err
		})
}

// deliverLimit is how long a deliverer waits for an agent that is about to be ready.
const deliverLimit = time.Minute

func newOutboxDeliverCmd(f *factory) *cobra.Command {
	return &cobra.Command{
		Use:    "deliver <handle>",
		Short:  "Type what waits for an agent",
		Hidden: true,
		Long: withCodes(`An agent's launcher runs this when the agent becomes ready. It types what waits in the
outbox, in its order, as long as the agent takes it. It prints nothing; what became of each
message is in the journal and in nbs-worker outbox list.`,
			agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Conflict, agent.Unfit, agent.Held, agent.Interrupted),
		Example:           `  nbs-worker outbox deliver theologian`,
		Args:              oneHandle,
		ValidArgsFunction: once(f.handlesWhere(anybody)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.supervisor()
			if err == nil {
				sender := message.Sender{Supervisor: s}
				err = sender.Deliver(cmd.Context(), agent.Handle(args[0]), time.Now().Add(deliverLimit), func(message.Delivered) {})
			}
			return failed(err, "outbox deliver", args[0])
		},
	}
}
