package inspect

import (
	"cmp"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
)

// AccountLimits are the limits of one account: that of the agents with one configuration of Claude.
type AccountLimits struct {
	ConfigDir string // as recorded; "": Claude's default
	agent.Limits
	By agent.Handle // the agent that reported them
}

// Limits returns the limits of the accounts of some agents, sorted by configuration. Of each account it returns the
// report with the newest numbers: an agent that rests repeats those of its last reply. Windows that have ended by now
// are left out.
func Limits(rows []Row, now time.Time) []AccountLimits {
	newest := map[string]AccountLimits{}
	for i := range rows {
		limits := rows[i].Report.Limits.Current(now)
		if limits == nil {
			continue
		}
		spec := &rows[i].Record.Spec
		of := claude.Account(spec)
		if known, ok := newest[of]; !ok || limits.Since.After(known.Since) {
			newest[of] = AccountLimits{ConfigDir: spec.ConfigDir, Limits: *limits, By: rows[i].Handle}
		}
	}
	all := make([]AccountLimits, 0, len(newest))
	for _, limits := range newest {
		all = append(all, limits)
	}
	slices.SortFunc(all, func(a, b AccountLimits) int {
		return cmp.Or(cmp.Compare(a.ConfigDir, b.ConfigDir), cmp.Compare(a.By, b.By))
	})
	return all
}
