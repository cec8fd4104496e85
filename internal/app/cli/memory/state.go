package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/supervisor"
)

func newMemoryStatusCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how far the agents are observed",
		Long: ui.WithCodes(`Prints one line per observed conversation, the oldest first: agent, session id, whether its
observer has an id, observations, the time of the newest, and the problem if the observer is
stuck. On a terminal and with --json, also which agents and conversations have their memory on,
and how many tokens the observers have used today, in UTC.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory status
  nbs-worker memory status --json | jq '.conversations[]|select(.problem)'`,
		Args: cobra.NoArgs,
	}
	return remembering(f, cmd, func(ctx context.Context, _ []string) error { return runMemoryStatus(ctx, f) })
}

func runMemoryStatus(ctx context.Context, f *ui.Factory) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	all, spent, err := howFar(ctx, s.Project.Store)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(c memory.StatusOf) bool { return !sees(s)(c.Handle) })
	on, chats := observed(s), observedChats(s)
	if f.JSON {
		return f.PrintJSON(wire.NewMemoryStatus(on, chats, spent, all))
	}
	names := append(slices.Clone(on), agent.Mapped(chats, func(key conversations.Key) agent.Handle { return agent.Handle(key) })...)
	f.Note("memory is on for: %s", cmp.Or(ui.Joined(names), "no agent"))
	f.Note("used today: %s tokens", human.Thousands(spent))
	t := f.NewTable("HANDLE", "SESSION", "OBSERVER", "OBSERVATIONS", "NEWEST", "PROBLEM")
	t.Under = 5
	for i := range all {
		c := &all[i]
		problem := ui.Text(c.Problem)
		if c.Problem != "" {
			problem.Colour = ui.Red
		}
		t.Row(ui.Text(c.Handle.Name()), ui.Text(string(c.ContentID)), ui.Text(c.State()), ui.Number(int64(c.Observations)), t.Time(c.Newest), problem)
	}
	return t.Flush()
}

// howFar returns the progress of the observers and their cost today; nothing if there is no memory yet.
func howFar(ctx context.Context, in *store.Store) (all []memory.StatusOf, spent int, err error) {
	m, err := openMemory(ctx, in)
	if fail.KindOf(err) == fail.NotFound {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer m.Close()
	if all, err = m.Status(ctx); err != nil {
		return nil, 0, err
	}
	spent, err = m.Spend(ctx, time.Now().UTC().Format(time.DateOnly), 0)
	return all, spent, err
}

// observed returns the agents whose memory is on.
func observed(s *supervisor.Supervisor) []agent.Handle {
	handles, _ := s.Project.Store.Handles()
	on := []agent.Handle{}
	for _, handle := range handles {
		if r, err := s.Project.Store.Load(handle); err == nil && r.Memory {
			on = append(on, r.Handle)
		}
	}
	return on
}

func newMemoryCheckCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the memory for damage",
		Long: ui.WithCodes(`Looks for damage of the database, observations without a conversation, and observer ids that
belong to an agent's conversation. It changes nothing. If it finds something, it prints a line
for each, and ends with 1. The line has no id of a conversation that the caller may not read.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory check`,
		Args:    cobra.NoArgs,
	}
	return remembering(f, cmd, func(ctx context.Context, _ []string) error { return runMemoryCheck(ctx, f) })
}

func runMemoryCheck(ctx context.Context, f *ui.Factory) error {
	return remembered(f, ctx, func(s *supervisor.Supervisor, m memory.Store) error {
		found, err := m.Check(ctx, sees(s))
		if err != nil {
			return err
		}
		all, err := m.Status(ctx)
		if err != nil {
			return err
		}
		found = append(found, takenForObservers(s, all)...)
		if f.JSON {
			if err := f.PrintJSON(wire.MemoryCheck{Whole: len(found) == 0, Found: append([]string{}, found...)}); err != nil {
				return err
			}
		} else {
			for _, line := range found {
				fmt.Fprintln(f.Streams.Out, ui.OneLine(line))
			}
		}
		if len(found) > 0 {
			return fail.Errorf(fail.Failed, "%s found", human.Count(len(found), "fault")).
				Hint("to start over from an export, move the database away: %s", memory.Aside(s.Project.Store.MemoryFile())).
				Hint("then: nbs-worker memory import FILE")
		}
		f.Note("the memory is not damaged")
		return nil
	})
}

// takenForObservers names agents whose conversation ID is recorded as an observer's: the observer's next turn would run
// in the agent's conversation.
func takenForObservers(s *supervisor.Supervisor, all []memory.StatusOf) (lines []string) {
	handles, _ := s.Project.Store.Handles()
	for _, handle := range handles {
		r, err := s.Project.Store.Load(handle)
		if err != nil {
			continue // doctor reports it
		}
		for i := range all {
			if id := all[i].MemoryID; slices.Contains(r.Conversations(), id) {
				line := fmt.Sprintf("conversation %s of %s is kept as the observer of %s", id, r.Handle, all[i].ContentID)
				lines = append(lines, memory.Seen(line, sees(s), all[i].Handle))
			}
		}
	}
	for _, key := range keysOf(s) {
		state, err := s.Project.Store.Conversations().Of(key).State()
		for i := range all {
			if id := all[i].MemoryID; err == nil && id != "" && state.Has(id) {
				line := fmt.Sprintf("session %s of %s is kept as the observer of %s", id, key, all[i].ContentID)
				lines = append(lines, memory.Seen(line, sees(s), all[i].Handle, agent.OfConversation(string(key))))
			}
		}
	}
	return lines
}

func keysOf(s *supervisor.Supervisor) []conversations.Key {
	keys, _ := s.Project.Store.Conversations().Keys() // the list of conversations reports unreadable ones
	return keys
}

// oneFile checks that exactly one file is named.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fail.Errorf(fail.BadInput, "memory %s: one file is needed, %d given", cmd.Name(), len(args)).Hint("%s --help", cmd.CommandPath())
	}
	return upToOneFile(cmd, args)
}

func upToOneFile(cmd *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return fail.Errorf(fail.BadInput, "memory %s: the name of the file is empty", cmd.Name()).Hint("%s --help", cmd.CommandPath())
	}
	return cobra.MaximumNArgs(1)(cmd, args)
}

func newMemoryExportCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export [FILE | -]",
		Short: "Write all observations as JSON lines",
		Long: ui.WithCodes(`Writes all observations to a new file that only you can read, or to stdout; nbs-worker memory
import reads it. With --json, export reports what it wrote; to stdout it writes only the lines.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory export memory.jsonl`,
		Args:    upToOneFile,
	}
	return remembering(f, cmd, func(ctx context.Context, args []string) error { return runMemoryExport(ctx, f, args) })
}

func runMemoryExport(ctx context.Context, f *ui.Factory, args []string) error {
	toStdout := len(args) == 0 || args[0] == "-"
	s, err := f.Supervisor()
	if err == nil && !toStdout {
		err = s.Caller.CheckWrite("a file")
	}
	if err != nil {
		return err
	}
	return remembered(f, ctx, func(s *supervisor.Supervisor, m memory.Store) error {
		if toStdout {
			_, err := m.Export(ctx, f.Streams.Out, sees(s))
			return err
		}
		file, err := newFile(args[0])
		if err != nil {
			return err
		}
		n, err := m.Export(ctx, file, sees(s))
		if err == nil {
			err = file.Sync()
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return errors.Join(err, os.Remove(args[0]))
		}
		return wrote(f, wire.Written{Path: args[0], Observations: n})
	})
}

// newFile creates a file that must not exist. Errors: Conflict.
func newFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fail.Errorf(fail.Conflict, "the file %s exists already", human.Quote(path)).Hint("choose another name")
	}
	return file, err
}

func wrote(f *ui.Factory, w wire.Written) error {
	if f.JSON {
		return f.PrintJSON(w)
	}
	f.Note("%s in %s", human.Count(w.Observations, "observation"), human.Quote(w.Path))
	return nil
}

func newMemoryImportCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import {FILE | -}",
		Short: "Import what an export holds",
		Long: ui.WithCodes(`Imports what nbs-worker memory export wrote, all of it or nothing. Observations that exist
already are skipped. Read a file from others first: agents are told what it contains.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory import memory.jsonl`,
		Args:    oneFile,
	}
	return remembering(f, cmd, func(ctx context.Context, args []string) error { return runMemoryImport(ctx, f, args[0]) })
}

func runMemoryImport(ctx context.Context, f *ui.Factory, path string) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	in := f.Streams.In
	if path != "-" {
		file, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return fail.Errorf(fail.NotFound, "%w", err)
		}
		if err != nil {
			return err
		}
		defer file.Close()
		if info, err := file.Stat(); err != nil || info.IsDir() {
			return errors.Join(err, fail.Errorf(fail.BadInput, "%s is a folder, not a file that memory export wrote", human.Quote(path)))
		}
		in = file
	}
	m, err := services.OpenMemory(ctx, s.Project.Store, true)
	if err != nil {
		return err
	}
	n, skipped, err := m.Import(ctx, in)
	if err = errors.Join(err, m.Close()); err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(wire.Imported{Observations: n, Skipped: skipped})
	}
	f.Note("%s imported, %d skipped", human.Count(n, "observation"), skipped)
	return nil
}

func newMemoryBackupCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database",
		Long: ui.WithCodes(`Writes a copy of the database to a new file, also while an observer runs. (A plain copy of
.nbs/memory.db may miss what was stored last.) To restore the copy: end all observers, move away
.nbs/memory.db, memory.db-wal and memory.db-shm, and put the copy in place of memory.db. It is
trusted as before, in this project. For another project or a later version, use nbs-worker
memory export.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory backup /backup/memory.db`,
		Args:    oneFile,
	}
	return remembering(f, cmd, func(ctx context.Context, args []string) error {
		return remembered(f, ctx, func(_ *supervisor.Supervisor, m memory.Store) error {
			if err := m.Backup(ctx, args[0]); err != nil {
				return err
			}
			if f.JSON {
				return f.PrintJSON(wire.Written{Path: args[0]})
			}
			f.Note("copied to %s", human.Quote(args[0]))
			return nil
		})
	})
}
