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
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/supervisor"
)

func newMemoryCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Observe agents, and read what they did",
		Long: ui.WithCodes(`While the memory of an agent is on, a small model reads each turn of the agent after its end,
in a conversation of its own, and writes down what is worth knowing later. Its notes are
called observations. The same holds for a keyed conversation, such as a chat. Each observation has
a type:

  decision   what was chosen, and why
  fix        what was wrong, and what fixed it
  discovery  what was found out
  change     what is different now
  open_end   what is left to do
  question   what has no answer yet

Details:

Observations are in .nbs/memory.db, a SQLite database that needs your seal, as records do.
list, search and show read them (an agent sees those of other agents and of its own
conversations); nbs-worker resume <handle> --fresh --brief gives the latest to
a new conversation. They are notes of a model and may be wrong. Secrets of known forms are
replaced before a text is sent to the observer.

The observer runs in nbs-worker serve, or as nbs-worker memory work. It costs tokens; a limit bounds
those of a day. No turn is observed twice or left out. The briefing is made without a model, from
the transcript and the observations, and has no authority.

For queries with sqlite3: sdk_sessions and observations have content_session_id, of the agent, and
memory_session_id, of its observer.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory on theologian
  nbs-worker memory search 'oak gate'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fail.Errorf(fail.BadInput, "memory: on, off, list, search, show, add, forget, brief, status, check, work, allow, export, import or backup?").Hint("nbs-worker memory --help")
			}
			return ui.ErrUnknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMemoryOnCmd(f), newMemoryOffCmd(f), newMemoryListCmd(f), newMemorySearchCmd(f), newMemoryShowCmd(f), newMemoryAddCmd(f), newMemoryForgetCmd(f),
		newMemoryBriefCmd(f), newMemoryStatusCmd(f), newMemoryCheckCmd(f), newMemoryWorkCmd(f), newMemoryAllowCmd(f), newMemoryExportCmd(f), newMemoryImportCmd(f), newMemoryBackupCmd(f))
	return cmd
}

// remembering completes a memory verb that has --json.
func remembering(f *ui.Factory, cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	cmd.RunE = func(c *cobra.Command, args []string) error {
		return ui.Failed(run(c.Context(), args), "memory "+c.Name())
	}
	return f.WithJSON(cmd)
}

// remembered calls use with the project's memory. Errors: NotFound if there is no memory yet.
func remembered(f *ui.Factory, ctx context.Context, use func(s *supervisor.Supervisor, m memory.Store) error) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	m, err := openMemory(ctx, s.Project.Store)
	if err != nil {
		return err
	}
	return errors.Join(use(s, m), m.Close())
}

func openMemory(ctx context.Context, in *store.Store) (memory.Store, error) {
	if !services.HasMemory(in) {
		return nil, fail.Errorf(fail.NotFound, "this project has no memory yet").
			Hint("to turn it on for an agent: nbs-worker memory on HANDLE")
	}
	return services.OpenMemory(ctx, in, false)
}

// showObservations prints observations in the given order.
func showObservations(f *ui.Factory, all []memory.Observation) error {
	if f.JSON {
		return f.PrintJSON(agent.Mapped(all, wire.NewObservation))
	}
	t := f.NewTable("ID", "AT", "HANDLE", "TYPE", "TITLE")
	t.Under = 1
	for i := range all {
		o := &all[i]
		t.Row(ui.Number(o.ID), t.Time(o.At), ui.Text(o.Handle.Name()), ui.Text(string(o.Type)), ui.Text(o.Title))
	}
	return t.Flush()
}
