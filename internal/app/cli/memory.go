package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/platform/companion"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/supervisor"
)

func newMemoryCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memory {on | off | list | search | show | add | forget | brief | status | check | work | allow | export | import | backup}",
		Short: "Observe agents, and read what is remembered",
		Long: withCodes(`An agent whose memory is on is observed: a small model, in a headless conversation of its
own, reads each turn of the agent after its end, and writes down what is worth knowing
later. Its notes are called observations. Each has a type:

  decision   what was chosen, and why
  fix        what was wrong, and what fixed it
  discovery  what was found out
  change     what is different now
  open_end   what is left to do
  question   what nobody has answered

They are in .nbs/memory.db, a SQLite database that needs your seal, as records do. People
and agents read them with list, search and show. nbs-worker resume <handle> --fresh --brief
gives the latest to a fresh conversation. They are notes of a model: they have no authority,
and may be wrong. Secrets of known forms are replaced before a text leaves.

The observer runs within nbs-worker serve, or as nbs-worker memory work. It costs tokens.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory on theologian
  nbs-worker memory search 'oak gate'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fail.Errorf(fail.BadInput, "memory: on, off, list, search, show, add, forget, brief, status, check, work, allow, export, import or backup?").Hint("nbs-worker memory --help")
			}
			return errUnknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMemoryOnCmd(f), newMemoryOffCmd(f), newMemoryListCmd(f), newMemorySearchCmd(f), newMemoryShowCmd(f), newMemoryAddCmd(f), newMemoryForgetCmd(f),
		newMemoryBriefCmd(f), newMemoryStatusCmd(f), newMemoryCheckCmd(f), newMemoryWorkCmd(f), newMemoryAllowCmd(f), newMemoryExportCmd(f), newMemoryImportCmd(f), newMemoryBackupCmd(f))
	return cmd
}

// remembering completes a verb of the memory that has --json.
func (f *factory) remembering(cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	return f.withJSON(f.inServices(cmd, run))
}

// inServices completes a verb of the memory, whose database only the program of the services has.
func (f *factory) inServices(cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if f.services == nil {
			return failed(f.handOver(c.Context()), "memory "+c.Name())
		}
		return failed(run(c.Context(), args), "memory "+c.Name())
	}
	return cmd
}

// remembered calls use with what is remembered in the project. Errors: NotFound when nothing ever was.
func (f *factory) remembered(ctx context.Context, use func(s *supervisor.Supervisor, m memory.Store) error) error {
	s, err := f.supervisor()
	if err != nil {
		return err
	}
	m, err := f.openMemory(ctx, s.Store)
	if err != nil {
		return err
	}
	return errors.Join(use(s, m), m.Close())
}

// hasMemory tells whether something may be remembered in a project. A file that cannot be looked at is not missing.
func hasMemory(in *store.Store) bool {
	_, err := os.Lstat(in.MemoryFile())
	return !errors.Is(err, os.ErrNotExist)
}

func (f *factory) openMemory(ctx context.Context, in *store.Store) (memory.Store, error) {
	if !hasMemory(in) {
		return nil, fail.Errorf(fail.NotFound, "nothing was ever remembered in this project").
			Hint("to have an agent observed: nbs-worker memory on HANDLE")
	}
	return f.services.OpenMemory(ctx, in, false)
}

// forget removes all that is remembered of an agent that was dismissed.
func (f *factory) forget(ctx context.Context, in *store.Store, handle agent.Handle) error {
	if !hasMemory(in) {
		return nil
	}
	if f.services == nil {
		var complaint strings.Builder
		args := []string{"memory", "forget", "--handle", string(handle), "--yes", "--root", in.Project()}
		code, err := companion.Run(ctx, args, strings.NewReader(""), io.Discard, &complaint)
		if err == nil && code != 0 {
			first, _, _ := strings.Cut(complaint.String(), "\n")
			err = errors.New(oneLine(strings.TrimPrefix(first, "nbs-worker: ")))
		}
		return err
	}
	m, err := f.services.OpenMemory(ctx, in, false)
	if err != nil {
		return err
	}
	_, _, err = m.ForgetHandle(ctx, handle)
	return errors.Join(err, m.Close())
}

// showObservations prints observations in the given order.
func (f *factory) showObservations(all []memory.Observation) error {
	if f.json {
		return f.printJSON(agent.Mapped(all, wire.NewObservation))
	}
	t := f.newTable("ID", "AT", "HANDLE", "TYPE", "TITLE")
	t.under = 1
	for i := range all {
		o := &all[i]
		t.row(number(o.ID), t.time(o.At), text(string(o.Handle)), text(string(o.Type)), text(o.Title))
	}
	return t.flush()
}
