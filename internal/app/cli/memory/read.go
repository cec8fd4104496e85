package memory

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

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

// memoryQuery selects observations, as typed.
type memoryQuery struct {
	words  []string
	handle string
	since  string
	last   int
}

func (q *memoryQuery) bind(f *ui.Factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&q.since, "since", "", "only observations since this time: 90m, 2h, 7d, or a time such as 2026-02-20T11:44:07Z")
	flags.IntVarP(&q.last, "last", "n", memory.DefaultLimit, "at most this many")
	flags.StringVar(&q.handle, "handle", "", "only of this agent, or of the conversation with this key")
	ui.CompleteWith(cmd, "handle", f.HandlesWhere(ui.AnyAgent))
}

func (q *memoryQuery) parse(s *supervisor.Supervisor, now time.Time) (query memory.Query, err error) {
	query = memory.Query{Text: strings.Join(q.words, " "), Limit: q.last}
	if q.last < 1 {
		return query, fail.Errorf(fail.BadInput, "--last %d must be 1 or more", q.last)
	}
	if q.handle != "" {
		if query.Handle, err = nameOf(s, q.handle); err != nil {
			return query, err
		}
	}
	query.Keys = s.Caller.OnlyKeys()
	query.Since, err = ui.ParseSince(q.since, now)
	if err != nil {
		err = fail.Errorf(fail.BadInput, "--since: %w", err)
	}
	return query, err
}

func newMemoryListCmd(f *ui.Factory) *cobra.Command {
	q := &memoryQuery{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List observations, the newest first",
		Long: ui.WithCodes(`Prints one line per observation: id, time, agent, type, title.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory list
  nbs-worker memory list --handle theologian --since 7d -n 100
  nbs-worker memory list --json | jq '.[]|select(.type=="open_end")'`,
		Args: cobra.NoArgs,
	}
	q.bind(f, cmd)
	return remembering(f, cmd, func(ctx context.Context, _ []string) error { return runMemoryQuery(ctx, f, q, memory.Store.Latest) })
}

func newMemorySearchCmd(f *ui.Factory) *cobra.Command {
	q := &memoryQuery{}
	cmd := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find observations by their words, the best first",
		Long: ui.WithCodes(`Finds the observations that contain all the words, in title, text, facts or files. The output is
that of nbs-worker memory list.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory search oak gate
  nbs-worker memory search oak --handle web --json | jq -r '.[].narrative'`,
		Args: func(_ *cobra.Command, args []string) error {
			if q.words = args; len(args) == 0 {
				return fail.Errorf(fail.BadInput, "memory search: a word is needed").Hint("to see the latest: nbs-worker memory list")
			}
			return nil
		},
	}
	q.bind(f, cmd)
	return remembering(f, cmd, func(ctx context.Context, _ []string) error { return runMemoryQuery(ctx, f, q, memory.Store.Search) })
}

func runMemoryQuery(ctx context.Context, f *ui.Factory, q *memoryQuery, ask func(memory.Store, context.Context, memory.Query) ([]memory.Observation, error)) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	query, err := q.parse(s, time.Now())
	if err != nil {
		return err
	}
	if !services.HasMemory(s.Project.Store) {
		f.Note("this project has no memory yet; to turn it on for an agent: nbs-worker memory on HANDLE")
		return showObservations(f, nil)
	}
	return remembered(f, ctx, func(_ *supervisor.Supervisor, m memory.Store) error {
		all, err := ask(m, ctx, query)
		if err != nil {
			return err
		}
		return showObservations(f, all)
	})
}

func newMemoryShowCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ID...",
		Short:   "Show whole observations",
		Long:    ui.WithCodes(`Shows whole observations: text, facts, files, conversation and turn.`, fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory show 17`,
		Args:    observationIDs,
	}
	return remembering(f, cmd, func(ctx context.Context, args []string) error { return runMemoryShow(ctx, f, args) })
}

// observationIDs checks that each argument is an observation ID.
func observationIDs(cmd *cobra.Command, args []string) error {
	_, err := parseIDs(args)
	if err == nil && len(args) == 0 {
		err = fail.Errorf(fail.BadInput, "the id of an observation is needed").Hint("to see them: nbs-worker memory list")
	}
	return ui.Failed(err, "memory "+cmd.Name())
}

func parseIDs(args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		var err error
		if ids[i], err = strconv.ParseInt(arg, 10, 64); err != nil || ids[i] < 1 {
			return nil, fail.Errorf(fail.BadInput, "%s is not the id of an observation", human.Quote(arg)).Hint("to see them: nbs-worker memory list")
		}
	}
	return ids, nil
}

func runMemoryShow(ctx context.Context, f *ui.Factory, args []string) error {
	ids, err := parseIDs(args)
	if err != nil {
		return err
	}
	return remembered(f, ctx, func(s *supervisor.Supervisor, m memory.Store) error {
		all := make([]memory.Observation, len(ids))
		for i, id := range ids {
			if all[i], err = m.Get(ctx, id); err != nil {
				return err
			}
			if !sees(s)(all[i].Handle) {
				return fail.Errorf(fail.Held, "observation %d is of a conversation of another caller", id).Hint("to see what may be read: nbs-worker memory list")
			}
		}
		if f.JSON {
			return f.PrintJSON(agent.Mapped(all, wire.NewObservation))
		}
		for i := range all {
			if err := showObservation(f, &all[i], i > 0); err != nil {
				return err
			}
		}
		return nil
	})
}

func showObservation(f *ui.Factory, o *memory.Observation, next bool) error {
	var b strings.Builder
	if next {
		b.WriteString("\n")
	}
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, ui.Indented(human.Legible(value)))
		}
	}
	row("id", strconv.FormatInt(o.ID, 10))
	row("type", string(o.Type))
	row("title", ui.OneLine(o.Title))
	row("text", o.Narrative)
	for _, fact := range o.Facts {
		row("fact", fact)
	}
	for _, file := range o.Files {
		row("file", file)
	}
	where := string(o.ContentID)
	if o.Turn > 0 {
		where += ", turn " + strconv.Itoa(o.Turn)
	}
	if key, is := o.Handle.Conversation(); is {
		row("chat", key)
	} else {
		row("agent", key)
	}
	row("in", where)
	row("by", string(o.MemoryID))
	row("at", o.At.UTC().Format(time.RFC3339))
	_, err := f.Streams.Out.Write([]byte(b.String()))
	return err
}
