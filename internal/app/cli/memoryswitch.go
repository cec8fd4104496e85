package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/team/supervisor"
)

func newMemoryOnCmd(f *factory) *cobra.Command {
	return f.switching(true, &cobra.Command{
		Use:   "on <handle>...",
		Short: "Turn the memory of agents on",
		Long: withCodes(`From now on, the observer reads what the agent does, turn by turn, and what was done before
in its present conversation. This takes effect at once, and stays on across starts. The
observer must run: nbs-worker serve, or nbs-worker memory work. An agent may not do this for
a colleague that may do more than itself, unless it was spawned with --may-manage (8).`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker memory on theologian
  nbs-worker memory on theologian gatekeeper`,
	})
}

func newMemoryOffCmd(f *factory) *cobra.Command {
	return f.switching(false, &cobra.Command{
		Use:   "off <handle>...",
		Short: "Turn the memory of agents off",
		Long: withCodes(`Observations stay and can be read; nbs-worker memory forget removes them. Turns that were
not observed yet will not be.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker memory off theologian`,
	})
}

func (f *factory) switching(on bool, cmd *cobra.Command) *cobra.Command {
	cmd.Args = someHandles
	cmd.ValidArgsFunction = f.handlesWhere(func(r *agent.Record, _ bool) bool { return r.Memory != on })
	verb := "memory " + cmd.Name()
	cmd.RunE = func(c *cobra.Command, args []string) error {
		return runMemorySwitch(c.Context(), f, verb, on, handlesOf(args))
	}
	return f.withJSON(cmd)
}

func runMemorySwitch(ctx context.Context, f *factory, verb string, on bool, handles []agent.Handle) error {
	s, err := f.supervisor()
	if err != nil {
		return failed(err, verb)
	}
	return f.each(ctx, verb, handles, len(handles) > 1, 1, func(handle agent.Handle) (outcome, error) {
		if on { // a database that cannot be created is an error now, not only in the observer
			if _, err := s.Store.Load(handle); err != nil {
				return outcome{}, err
			}
			m, err := services.OpenMemory(ctx, s.Store, true)
			if err != nil {
				return outcome{}, err
			}
			if err := m.Close(); err != nil {
				return outcome{}, err
			}
		}
		changed, err := s.Set(ctx, handle, supervisor.Set{Memory: &on})
		if err != nil {
			return outcome{}, err
		}
		return outcome{json: wire.NewSet(changed), handle: changed.Record.Handle, words: setWords(changed)}, nil
	})
}

func newMemoryAllowCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "allow",
		Short: "Look at the memory of a project, and allow it",
		Long: withCodes(`nbs-worker does not use a database that came with a project, was moved with it, or was put
back by another user: agents would be told what it holds. allow shows the latest of it, and
asks, at a terminal. Only a person may allow it.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory allow`,
		Args:    cobra.NoArgs,
	}
	cmd.RunE = func(c *cobra.Command, _ []string) error {
		return failed(runMemoryAllow(c.Context(), f), "memory allow")
	}
	return cmd
}

func runMemoryAllow(ctx context.Context, f *factory) error {
	if !f.streams.InTTY || !f.streams.ErrTTY || !f.streams.OutTTY {
		return fail.Errorf(fail.Held, "a person has to look at it, at a terminal").Hint("in a terminal: nbs-worker memory allow")
	}
	s, err := f.supervisor()
	if err != nil {
		return err
	}
	m, instance, err := services.LookAtMemory(ctx, s.Store)
	if err != nil {
		return err
	}
	return errors.Join(f.allowMemory(ctx, s, m, instance), m.Close())
}

func (f *factory) allowMemory(ctx context.Context, s *supervisor.Supervisor, m memory.Store, instance string) error {
	name := memory.SealName(instance)
	if s.Store.Allowed().Check(memory.SealKind, name, []byte(instance)) == nil {
		return f.show(outcome{handle: "memory", words: "is allowed already"}, "")
	}
	const some = 50
	all, err := m.Latest(ctx, memory.Query{Limit: some})
	if err != nil {
		return err
	}
	for i := range all {
		if err := f.showObservation(&all[i], i > 0); err != nil {
			return err
		}
	}
	if !f.confirmed("\nlet agents be told this, and what is older? [y/N] ") {
		return fail.Errorf(fail.Failed, "it was not allowed; nothing was changed")
	}
	if err := s.AllowFile(ctx, memory.SealKind, name, []byte(instance)); err != nil {
		return err
	}
	return f.show(outcome{handle: "memory", words: "allowed"}, "")
}
