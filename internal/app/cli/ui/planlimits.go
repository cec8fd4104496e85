package ui

import (
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
)

// PlanLimits describes the limits of an account that are in force: "5 hours: 42% used, resets in 59m; 7 days: ...". It
// returns "" if none is known.
func PlanLimits(limits *agent.Limits, now time.Time) string {
	return planLimits(limits, now, [...]string{"5 hours", "7 days", "spending"}, "resets in")
}

// ShortPlanLimits is PlanLimits in as few words as possible: "5h: 42% used, resets 59m; 7d: ...".
func ShortPlanLimits(limits *agent.Limits, now time.Time) string {
	return planLimits(limits, now, [...]string{"5h", "7d", "spending"}, "resets")
}

func planLimits(limits *agent.Limits, now time.Time, names [3]string, resets string) string {
	current := limits.Current(now)
	if current == nil {
		return ""
	}
	var words []string
	for _, one := range []struct {
		name  string
		limit *agent.Limit
	}{{names[0], current.FiveHour}, {names[1], current.SevenDay}, {names[2], current.Spend}} {
		if one.limit != nil {
			words = append(words, fmt.Sprintf("%s: %d%% used, %s %s", one.name, one.limit.UsedPercent, resets, human.Brief(one.limit.ResetsAt.Sub(now))))
		}
	}
	return strings.Join(words, "; ")
}

// PullRequestWords describes a pull request in few words: "#12 approved".
func PullRequestWords(pull *agent.PullRequest) string {
	if pull == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("#%d %s", pull.Number, strings.ReplaceAll(pull.ReviewState, "_", " ")))
}
