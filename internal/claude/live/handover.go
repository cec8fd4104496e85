package live

import (
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
)

const (
	nameLimit   = 256                  // bytes of a kept name
	pathLimit   = 4096                 // bytes of a kept path
	urlLimit    = 512                  // bytes of a kept address
	resetWithin = 366 * 24 * time.Hour // no window of a limit is longer
)

// Limits returns the limits of the account that claude passed in a call at the given time; nil if it passed none. It
// leaves out a window that has ended: 2.1.197 reports it until the next reply.
func (l StatusLine) Limits(at time.Time) *agent.Limits {
	type window struct {
		Used     *float64 `json:"used_percentage"`
		ResetsAt float64  `json:"resets_at"` // seconds since 1970
	}
	var told struct {
		FiveHour *window `json:"five_hour"`
		SevenDay *window `json:"seven_day"`
		Spend    *window `json:"spend_limit"`
	}
	if !readPart(l.RateLimits, &told) {
		return nil
	}
	limitOf := func(w *window) *agent.Limit {
		const most = 999 // percent; what is spent can be more than the limit
		if w == nil || w.Used == nil || !(w.ResetsAt > 0 && w.ResetsAt < math.MaxInt32*4.0) {
			return nil
		}
		reset := time.Unix(int64(w.ResetsAt), 0).UTC()
		if !reset.After(at) || reset.Sub(at) > resetWithin {
			return nil
		}
		const rounding = 1e-6 // 2.1.197 multiplies: 29 is 28.999999999999996
		return &agent.Limit{UsedPercent: int(min(most, max(0, *w.Used+rounding))), ResetsAt: reset}
	}
	limits := &agent.Limits{FiveHour: limitOf(told.FiveHour), SevenDay: limitOf(told.SevenDay), Spend: limitOf(told.Spend), Since: at}
	return limits.Current(at)
}

// PullRequest returns the pull request of the agent's branch; nil if claude passed none.
func (l StatusLine) PullRequest() *agent.PullRequest {
	const most = 1 << 40
	var told struct {
		Number      float64 `json:"number"`
		URL         string  `json:"url"`
		ReviewState string  `json:"review_state"`
	}
	if !readPart(l.PR, &told) || !(told.Number >= 1 && told.Number < most) {
		return nil
	}
	pull := &agent.PullRequest{Number: int(told.Number), ReviewState: plainWord(told.ReviewState)}
	if isWebAddress(told.URL) {
		pull.URL = told.URL
	}
	return pull
}

// isWebAddress reports whether a text is an address that can be shown and opened: plain characters only.
func isWebAddress(text string) bool {
	if !strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "http://") || len(text) > urlLimit {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`<>\\", r) })
}

// Worktree returns the worktree that claude has made for the session; nil if claude passed none.
func (l StatusLine) Worktree() *agent.Worktree {
	var told agent.Worktree
	if !readPart(l.InWorktree, &told) {
		return nil
	}
	tree := &agent.Worktree{
		Name: legible(told.Name, nameLimit), Path: legible(told.Path, pathLimit), Branch: legible(told.Branch, nameLimit),
		OriginalCwd: legible(told.OriginalCwd, pathLimit), OriginalBranch: legible(told.OriginalBranch, nameLimit),
	}
	if tree.Name == "" || tree.Path == "" {
		return nil
	}
	return tree
}

// legible returns a text of one line that can be shown as it is, or "" for any other: a name that was changed would
// name something else.
func legible(text string, limit int) string {
	if len(text) > limit || !human.IsLegible(text) || strings.ContainsAny(text, "\n\t") {
		return ""
	}
	return text
}

// readPart reads one part of claude's input, and reports whether it is there and has the known form.
func readPart(text jsontext.Value, into any) bool {
	return len(text) > 0 && text.Kind() == '{' && unmarshal(text, into) == nil
}
