package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/costs"
	"nbs-worker/internal/team/supervisor"
)

type costOptions struct {
	ui.Selection

	since string
	from  time.Time
}

func newCostCmd(f *ui.Factory) *cobra.Command {
	o := &costOptions{}
	cmd := &cobra.Command{
		Use:   "cost [<handle>... | @GROUP...]",
		Short: "Show what the agents have spent",
		Long: ui.WithCodes(`Prints for each agent, also a dismissed one, what it has spent since --since and ever, in US
dollars, and its budget. Without handles, the project's conversations and the sum are there too.

The sums are what Claude's status line shows, and begin when nbs-worker first saw the agent's
conversation. They are kept by the quarter of an hour, and after 40 days by the day, in UTC. A
conversation's cost is kept by the quarter for two days. The observers of the memory are not
counted. On a subscription, Claude shows what the API would have cost.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker cost
  nbs-worker cost @reviewers --since 7d
  nbs-worker cost --since 2026-02-20T00:00:00Z --json | jq .spent_usd`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return o.Positional(cmd, args)
		},
		ValidArgsFunction: f.HandlesWhere(ui.AnyAgent),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.from, err = ui.ParseSince(o.since, time.Now()); err != nil {
				return fail.Errorf(fail.BadInput, "cost: --since: %w", err).Hint("nbs-worker cost --since 7d")
			}
			return runCost(cmd.Context(), f, o)
		},
	}
	cmd.Flags().StringVar(&o.since, "since", "", "what was spent since this time: 90m, 2h, 7d, or a time such as 2026-02-20T11:44:07Z (default: midnight)")
	return f.WithJSON(cmd)
}

func runCost(_ context.Context, f *ui.Factory, o *costOptions) error {
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "cost")
	}
	if o.from.IsZero() {
		year, month, day := s.Project.Now().Date()
		o.from = time.Date(year, month, day, 0, 0, 0, 0, s.Project.Now().Location())
	}
	outcome := &ui.Partial{}
	unread := func(name string, err error) {
		outcome.Failures = append(outcome.Failures, err)
		f.PrintError("", ui.Failed(err, "cost", name))
	}
	ledgers, err := ledgersOf(s, o)
	if err != nil {
		return ui.Failed(err, "cost")
	}
	sums := wire.Costs{Since: &o.from, Agents: []wire.AgentCost{}, Chats: []wire.ChatCost{}}
	for i := range ledgers {
		l := &ledgers[i]
		if outcome.Of++; l.Err != nil {
			unread(string(l.Handle), l.Err)
			continue
		}
		var spending *agent.Spending
		if !l.Closed {
			if r, err := s.Project.Store.Load(l.Handle); err == nil {
				spending = l.Spending(r.Budget, s.Project.Now())
			} else { // its budget is unknown
				unread(string(l.Handle), err)
			}
		}
		sums.Agents = append(sums.Agents, wire.NewAgentCost(l, o.from, spending))
	}
	if !o.isChoice() {
		addChats(s, o, &sums, outcome, unread)
	}
	sums.Add()
	if f.JSON {
		err = f.PrintJSON(sums)
	} else {
		err = printCosts(f, o, &sums)
	}
	return cmp.Or(ui.Failed(err, "cost"), outcome.Failed())
}

func (o *costOptions) isChoice() bool { return len(o.Handles)+len(o.Groups) > 0 }

// ledgersOf returns the ledgers of the chosen agents, or of all agents of the project, dismissed ones too. Errors: NotFound.
func ledgersOf(s *supervisor.Supervisor, o *costOptions) ([]costs.Kept, error) {
	all, err := s.Project.Store.Costs().All()
	if err != nil {
		return nil, err
	}
	records, err := s.Project.Store.Records()
	if err != nil {
		return nil, err
	}
	for _, one := range records { // some have spent nothing yet
		if !slices.ContainsFunc(all, func(l costs.Kept) bool { return !l.Closed && l.Handle.Same(one.Handle) }) {
			all = append(all, costs.Kept{Ledger: costs.Ledger{Handle: one.Handle}})
		}
	}
	for i := range all { // a ledger without a record was not closed by a killed dismiss
		all[i].Closed = !slices.ContainsFunc(records, func(r store.Loaded) bool { return r.Handle.Same(all[i].Handle) }) || all[i].Closed
	}
	slices.SortStableFunc(all, func(a, b costs.Kept) int {
		return cmp.Or(cmp.Compare(a.Handle.Key(), b.Handle.Key()), compareBool(a.Closed, b.Closed))
	})
	if !o.isChoice() {
		return all, nil
	}
	chosen, err := o.Named(s)
	if err != nil {
		return nil, err
	}
	var some []costs.Kept
	for _, handle := range chosen {
		before := len(some)
		for _, l := range all {
			if l.Handle.Same(handle) {
				some = append(some, l)
			}
		}
		if len(some) == before {
			_, err := s.Project.Store.Load(handle)
			return nil, err
		}
	}
	return some, nil
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// addChats adds the project's conversations that the caller may see.
func addChats(s *supervisor.Supervisor, o *costOptions, sums *wire.Costs, outcome *ui.Partial, unread func(name string, err error)) {
	const kept = 2 * 24 * time.Hour // by the quarter
	chats := s.Project.Store.Conversations()
	keys, broken := chats.Keys()
	if broken != nil {
		outcome.Of++
		unread("", broken)
	}
	for _, key := range keys {
		if !s.Caller.Sees(key) {
			continue
		}
		outcome.Of++
		state, err := chats.Of(key).State()
		if err != nil {
			unread(string(key), err)
			continue
		}
		var spent *float64
		if s.Project.Now().Sub(o.from) <= kept || state.TotalUSD == 0 {
			spent = new(state.SpentSince(o.from))
		}
		sums.Chats = append(sums.Chats, wire.NewChatCost(string(key), spent, state.TotalUSD))
	}
}

// budgetCell returns a budget, and until when it holds the agent.
func budgetCell(t *ui.Table, b *wire.AgentBudget) ui.Cell {
	words, until := string(b.Budget), t.When(*b.Ends)
	if t.Streams.OutTTY {
		words = "$" + words
		until = b.Ends.Local().Format("15:04")
		if b.Ends.Sub(t.Now) > 24*time.Hour {
			until = b.Ends.Local().Format("Monday, 2 January")
		}
	}
	if !b.Over {
		return ui.Text(words)
	}
	return ui.Cell{Text: words + ", spent, held until " + until, Colour: ui.Red}
}

func printCosts(f *ui.Factory, o *costOptions, sums *wire.Costs) error {
	since := f.When(o.from)
	if o.since == "" {
		since = "midnight"
	}
	f.Note("spent since %s", since)
	t := f.NewTable("WHO", "SPENT", "EVER", "BUDGET")
	money := func(usd float64) ui.Cell {
		if t.Streams.OutTTY {
			return ui.Text(fmt.Sprintf("$%.2f", usd))
		}
		return ui.Text(strconv.FormatFloat(usd, 'f', 2, 64))
	}
	for i := range sums.Agents {
		a := &sums.Agents[i]
		who, budget := string(a.Handle), ui.Text("")
		if a.Dismissed {
			who += " (dismissed)"
		}
		if a.Budget != nil {
			budget = budgetCell(t, a.Budget)
		}
		t.Row(ui.Text(who), money(a.SpentUSD), money(a.EverUSD), budget)
	}
	for i := range sums.Chats {
		c := &sums.Chats[i]
		spent := ui.Text("")
		if c.SpentUSD != nil {
			spent = money(*c.SpentUSD)
		}
		t.Row(ui.Text("conversation "+ui.OneLine(c.Conversation)), spent, money(c.EverUSD), ui.Text(""))
	}
	if len(sums.Agents)+len(sums.Chats) != 1 {
		t.Row(ui.Text("all"), money(sums.SpentUSD), money(sums.EverUSD), ui.Text(""))
	}
	return t.Flush()
}
