package memory

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/team/supervisor"
)

func newMemoryOnCmd(f *ui.Factory) *cobra.Command {
	return switching(f, true, &cobra.Command{
		Use:   "on {<handle> | @GROUP | <key>}...",
		Short: "Turn the memory of agents and conversations on",
		Long: ui.WithCodes(`From now on, the observer reads the agent's turns, including the earlier ones of its present
conversation. This takes effect at once and lasts across starts. The observer must run:
nbs-worker serve, or nbs-worker memory work.

A key such as telegram:123456789 names a conversation of nbs-worker ask, a chat for example. It is
remembered under its key, also after a reset. A key that is an agent's handle too is written
conversation:KEY.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker memory on theologian
  nbs-worker memory on theologian gatekeeper
  nbs-worker memory on telegram:123456789`,
	})
}

func newMemoryOffCmd(f *ui.Factory) *cobra.Command {
	return switching(f, false, &cobra.Command{
		Use:   "off {<handle> | @GROUP | <key>}...",
		Short: "Turn the memory of agents and conversations off",
		Long: ui.WithCodes(`Turns the memory of agents and conversations off. Observations stay and can be read; nbs-worker memory forget
removes them. Turns that were not observed yet will not be.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker memory off theologian`,
	})
}

func switching(f *ui.Factory, on bool, cmd *cobra.Command) *cobra.Command {
	cmd.Args = someNames
	cmd.ValidArgsFunction = f.SelectionWhere(func(r *agent.Record, _ bool) bool { return r.Memory != on })
	verb := "memory " + cmd.Name()
	cmd.RunE = func(c *cobra.Command, args []string) error {
		return runMemorySwitch(c.Context(), f, verb, on, args)
	}
	return f.WithJSON(cmd)
}

func runMemorySwitch(ctx context.Context, f *ui.Factory, verb string, on bool, typed []string) error {
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, verb)
	}
	names, several, err := withMembers(s, typed)
	if err != nil {
		return ui.Failed(err, verb)
	}
	return f.Each(ctx, verb, names, several, 1, func(name agent.Handle) (ui.Outcome, error) {
		handle, err := nameOf(s, string(name))
		if err != nil {
			return ui.Outcome{}, err
		}
		key, isChat := handle.Conversation()
		if on { // a database that cannot be created is an error now, not only in the observer
			if _, err := s.Project.Store.Load(handle); err != nil && !isChat {
				return ui.Outcome{}, err
			}
			m, err := services.OpenMemory(ctx, s.Project.Store, true)
			if err != nil {
				return ui.Outcome{}, err
			}
			if err := m.Close(); err != nil {
				return ui.Outcome{}, err
			}
		}
		if isChat {
			return switchConversation(ctx, s, key, on)
		}
		changed, err := s.Set(ctx, handle, supervisor.Set{Memory: &on})
		if err != nil {
			return ui.Outcome{}, err
		}
		return ui.Outcome{JSON: wire.NewSet(changed), Handle: changed.Record.Handle, Words: ui.SetWords(changed)}, nil
	})
}

func newMemoryAllowCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "allow",
		Short: "Review the memory of a project, and allow it",
		Long: ui.WithCodes(`A database that came with a project, was moved with it, or was put back by another user is not
used until you allow it, since agents are told what it contains. allow shows its latest
observations, and asks on the terminal.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory allow`,
		Args:    cobra.NoArgs,
	}
	cmd.RunE = func(c *cobra.Command, _ []string) error {
		return ui.Failed(runMemoryAllow(c.Context(), f), "memory allow")
	}
	return cmd
}

func runMemoryAllow(ctx context.Context, f *ui.Factory) error {
	if !f.Streams.InTTY || !f.Streams.ErrTTY || !f.Streams.OutTTY {
		return fail.Errorf(fail.Held, "only a person can allow it, on a terminal").Hint("in a terminal: nbs-worker memory allow")
	}
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	m, instance, err := services.LookAtMemory(ctx, s.Project.Store)
	if err != nil {
		return err
	}
	return errors.Join(allowMemory(f, ctx, s, m, instance), m.Close())
}

func allowMemory(f *ui.Factory, ctx context.Context, s *supervisor.Supervisor, m memory.Store, instance string) error {
	name := memory.SealName(instance)
	if s.Project.Store.Allowed().Check(memory.SealKind, name, []byte(instance)) == nil {
		return f.Show(ui.Outcome{Handle: "memory", Words: "is allowed already"}, "")
	}
	const some = 50
	all, err := m.Latest(ctx, memory.Query{Limit: some})
	if err != nil {
		return err
	}
	for i := range all {
		if err := showObservation(f, &all[i], i > 0); err != nil {
			return err
		}
	}
	if err := f.Confirm(ctx, "\ntell agents this, and what is older? [y/N] ", ui.NotAllowed()); err != nil {
		return err
	}
	if err := s.AllowFile(ctx, memory.SealKind, name, []byte(instance)); err != nil {
		return err
	}
	return f.Show(ui.Outcome{Handle: "memory", Words: "allowed"}, "")
}
