package wire

import (
	"time"

	"nbs-worker/internal/agent"
)

// Limits are the limits of an account's plan. A window that has ended is left out.
type Limits struct {
	FiveHour *Limit `json:"five_hour,omitempty"`
	SevenDay *Limit `json:"seven_day,omitempty"`
	Spend    *Limit `json:"spend_limit,omitempty"` // of an organization's gateway
	AgeS     int64  `json:"age_s"`                 // since these numbers were first reported
}

// Limit is one limit.
type Limit struct {
	UsedPercent int        `json:"used_percent"`
	ResetsAt    *time.Time `json:"resets_at"`
}

// PullRequest is the pull request of a branch.
type PullRequest struct {
	Number      int    `json:"number"`
	URL         string `json:"url,omitempty"`
	ReviewState string `json:"review_state,omitempty"` // in Claude's words
}

// Worktree is a git worktree that Claude has made for a session.
type Worktree struct {
	Name           string `json:"name"`
	Path           string `json:"path"`
	Branch         string `json:"branch,omitempty"`
	OriginalCwd    string `json:"original_cwd,omitempty"`
	OriginalBranch string `json:"original_branch,omitempty"`
}

// newLimits converts reported limits; nil if none is in force.
func newLimits(limits *agent.Limits, now time.Time) *Limits {
	current := limits.Current(now)
	if current == nil {
		return nil
	}
	limitOf := func(l *agent.Limit) *Limit {
		if l == nil {
			return nil
		}
		return &Limit{UsedPercent: l.UsedPercent, ResetsAt: timeOf(l.ResetsAt)}
	}
	return &Limits{
		FiveHour: limitOf(current.FiveHour), SevenDay: limitOf(current.SevenDay), Spend: limitOf(current.Spend),
		AgeS: max(0, int64(now.Sub(current.Since)/time.Second)),
	}
}
