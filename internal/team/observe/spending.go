package observe

import "nbs-worker/internal/agent"

// spendingOf returns what an agent with a budget has spent in the present period; nil if it has no budget, or if its
// ledger cannot be read, which the verb cost reports.
func (o *Project) spendingOf(r *agent.Record) *agent.Spending {
	if r.Budget == "" {
		return nil
	}
	ledger, err := o.Store.Costs().Of(r.Handle)
	if err != nil {
		return nil
	}
	return ledger.Spending(r.Budget, o.Now())
}
