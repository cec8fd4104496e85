package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/team/supervisor"
)

// noteOptions are the options of a note by hand.
type noteOptions struct {
	kind, text, textFile string
	facts, files         []string
}

func newMemoryAddCmd(f *ui.Factory) *cobra.Command {
	o := &noteOptions{}
	cmd := &cobra.Command{
		Use:   "add <handle> TITLE",
		Short: "Write an observation by hand",
		Long: ui.WithCodes(`Adds an observation to the agent's present conversation, as its observer would, and prints its
id. The agent's memory need not be on. A title from an agent begins with the agent's name.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory add theologian 'The gate is of oak' --type decision \
      --text 'Iron was too heavy.' --file gate.go`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fail.Errorf(fail.BadInput, "memory add: a handle and a title are needed").Hint("nbs-worker memory add --help")
			}
			return ui.OneHandle(cmd, args[:1])
		},
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.AnyAgent)),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.kind, "type", string(memory.Discovery), "type of the observation: "+strings.Join(typeWords(), ", "))
	flags.StringVar(&o.text, "text", "", "the details, as sentences")
	flags.StringVar(&o.textFile, "text-file", "", "read the text from this file, - for stdin")
	flags.StringArrayVar(&o.facts, "fact", nil, "a fact that can be looked up again; repeatable")
	flags.StringArrayVar(&o.files, "file", nil, "a path that the observation is about; repeatable")
	cmd.MarkFlagsMutuallyExclusive("text", "text-file")
	ui.CompleteWith(cmd, "type", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return typeWords(), cobra.ShellCompDirectiveNoFileComp
	})
	return remembering(f, cmd, func(ctx context.Context, args []string) error {
		return runMemoryAdd(ctx, f, o, agent.Handle(args[0]), args[1])
	})
}

func typeWords() []string {
	return agent.Mapped(memory.Types(), func(t memory.Type) string { return string(t) })
}

func runMemoryAdd(ctx context.Context, f *ui.Factory, o *noteOptions, handle agent.Handle, title string) error {
	kind, err := memory.ParseType(o.kind)
	if err != nil {
		return err
	}
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	if o.textFile != "" {
		if o.text, err = f.ReadFile(s, "text", "--text-file", o.textFile); err != nil {
			return err
		}
	}
	r, err := s.Project.Store.Load(handle)
	if err == nil {
		err = s.Caller.CheckSet(&r.Spec, &r.Spec)
	}
	if err != nil {
		return err
	}
	m, err := services.OpenMemory(ctx, s.Project.Store, true)
	if err != nil {
		return err
	}
	note, err := m.Add(ctx, r.Handle, r.SessionID, memory.Observation{
		Type: kind, Title: s.Caller.From() + strings.TrimSpace(title), Narrative: strings.TrimSpace(o.text), Facts: o.facts, Files: o.files,
	})
	if err = errors.Join(err, m.Close()); err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(wire.NewObservation(note))
	}
	_, err = fmt.Fprintln(f.Streams.Out, note.ID)
	return err
}

func newMemoryForgetCmd(f *ui.Factory) *cobra.Command {
	var handle string
	yes := false
	cmd := &cobra.Command{
		Use:   "forget {ID... | --handle HANDLE}",
		Short: "Remove observations",
		Long: ui.WithCodes(`Removes observations. --handle removes everything that is remembered about an agent, present or
dismissed, including how far its conversations were read. It asks first, unless --yes is given.
Exports and backups are not changed.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker memory forget 17 18
  nbs-worker memory forget --handle theologian --yes`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case handle == "":
				return observationIDs(cmd, args)
			case len(args) > 0:
				return fail.Errorf(fail.BadInput, "memory forget: ids and --handle exclude each other")
			}
			return ui.Failed(checkName(handle), "memory forget")
		},
	}
	cmd.Flags().StringVar(&handle, "handle", "", "everything about this agent, or about the conversation with this key")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	ui.CompleteWith(cmd, "handle", f.HandlesWhere(ui.AnyAgent))
	return remembering(f, cmd, func(ctx context.Context, args []string) error {
		return remembered(f, ctx, func(s *supervisor.Supervisor, m memory.Store) error {
			if handle != "" {
				name, err := nameOf(s, handle)
				if err != nil {
					return err
				}
				return runMemoryForgetAll(ctx, f, m, name, yes)
			}
			return runMemoryForget(ctx, f, m, args)
		})
	})
}

func runMemoryForget(ctx context.Context, f *ui.Factory, m memory.Store, args []string) error {
	ids, err := parseIDs(args)
	if err != nil {
		return err
	}
	forgotten := 0
	for _, id := range ids {
		if err := m.Forget(ctx, id); err != nil {
			return cmp.Or(forgot(f, wire.Forgotten{Observations: forgotten}), err)
		}
		forgotten++
	}
	return forgot(f, wire.Forgotten{Observations: forgotten})
}

func runMemoryForgetAll(ctx context.Context, f *ui.Factory, m memory.Store, handle agent.Handle, yes bool) error {
	if !yes {
		word := handle.Name()
		if _, isChat := handle.Conversation(); isChat {
			word = human.ShellWord(word)
		}
		if !f.Streams.InTTY || !f.Streams.ErrTTY {
			return fail.Errorf(fail.BadInput, "this would forget everything that is remembered about %s; confirm with --yes (no terminal to ask on)", handle.Name()).
				Hint("to confirm: nbs-worker memory forget --handle %s --yes", word)
		}
		question := fmt.Sprintf("forget everything that is remembered about %s? [y/N] ", handle.Name())
		if err := f.Confirm(ctx, question, fail.Errorf(fail.Interrupted, "nothing was changed")); err != nil {
			return err
		}
	}
	conversations, n, err := m.ForgetHandle(ctx, handle)
	if err != nil {
		return err
	}
	return forgot(f, wire.NewForgotten(handle, len(conversations), n))
}

func forgot(f *ui.Factory, gone wire.Forgotten) error {
	if f.JSON {
		return f.PrintJSON(gone)
	}
	f.Note("%s forgotten", human.Count(gone.Observations, "observation"))
	return nil
}
