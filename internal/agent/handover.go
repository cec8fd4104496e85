package agent

import "time"

// What Claude passes to the status line besides the gauge: the limits of the account, and where the agent works.

// Limits are the limits of the plan that an agent's claude uses. They belong to the account, not to the agent. Claude
// reports them after the first reply, and only for an account with a plan.
type Limits struct {
	FiveHour *Limit    `json:"five_hour,omitempty"`
	SevenDay *Limit    `json:"seven_day,omitempty"`
	Spend    *Limit    `json:"spend_limit,omitempty"` // of an organization's gateway
	Since    time.Time `json:"since"`                 // of the first call that reported these numbers
}

// Limit is one limit: a window of time, and how much of it is used.
type Limit struct {
	UsedPercent int       `json:"used_percent"`
	ResetsAt    time.Time `json:"resets_at"` // when the window ends, and a new one begins
}

// IsFull reports whether nothing is left.
func (l *Limit) IsFull() bool { return l != nil && l.UsedPercent >= 100 }

// Current returns the limits whose windows have not ended; nil if there are none. Of a new window nothing is known yet.
func (l *Limits) Current(now time.Time) *Limits {
	if l == nil {
		return nil
	}
	current := *l
	for _, limit := range []**Limit{&current.FiveHour, &current.SevenDay, &current.Spend} {
		if *limit != nil && !(*limit).ResetsAt.After(now) {
			*limit = nil
		}
	}
	if current.FiveHour == nil && current.SevenDay == nil && current.Spend == nil {
		return nil
	}
	return &current
}

// FullUntil returns when the last of the limits that are used up resets; zero if none is used up.
func (l *Limits) FullUntil(now time.Time) time.Time {
	var until time.Time
	current := l.Current(now)
	if current == nil {
		return until
	}
	for _, limit := range []*Limit{current.FiveHour, current.SevenDay, current.Spend} {
		if limit.IsFull() && limit.ResetsAt.After(until) {
			until = limit.ResetsAt
		}
	}
	return until
}

// SameAs reports whether two reports have the same numbers, whenever they came.
func (l *Limits) SameAs(other *Limits) bool {
	if l == nil || other == nil {
		return l == other
	}
	same := func(a, b *Limit) bool {
		return (a == nil) == (b == nil) && (a == nil || a.UsedPercent == b.UsedPercent && a.ResetsAt.Equal(b.ResetsAt))
	}
	return same(l.FiveHour, other.FiveHour) && same(l.SevenDay, other.SevenDay) && same(l.Spend, other.Spend)
}

// PullRequest is the pull request of the branch that an agent works on, as Claude found it.
type PullRequest struct {
	Number      int    `json:"number"`
	URL         string `json:"url,omitempty"`
	ReviewState string `json:"review_state,omitempty"` // Claude's word: "approved", "pending"; "": unknown
}

// Worktree is the git worktree that Claude has made for an agent's session.
type Worktree struct {
	Name           string `json:"name"`
	Path           string `json:"path"`
	Branch         string `json:"branch,omitempty"`
	OriginalCwd    string `json:"original_cwd,omitempty"`    // the folder before
	OriginalBranch string `json:"original_branch,omitempty"` // its branch
}
