package live

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// The forms of both tested versions, read in their programs, and what is not to be kept.
func TestLimits(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0).UTC()
	limit := func(percent int, seconds int64) *agent.Limit {
		return &agent.Limit{UsedPercent: percent, ResetsAt: time.Unix(seconds, 0).UTC()}
	}
	for text, want := range map[string]*agent.Limits{
		`{}`:                                nil,
		`{"rate_limits":null}`:              nil,
		`{"rate_limits":[1]}`:               nil,
		`{"rate_limits":{}}`:                nil,
		`{"rate_limits":{"five_hour":"x"}}`: nil,
		`{"rate_limits":{"five_hour":{"used_percentage":28.999999999999996,"resets_at":1800001000},"seven_day":{"used_percentage":3.5,"resets_at":1800090000}}}`: {FiveHour: limit(29, 1_800_001_000), SevenDay: limit(3, 1_800_090_000), Since: at},
		`{"rate_limits":{"spend_limit":{"used_percentage":120.4,"resets_at":1800001000,"used_usd":12.04,"limit_usd":10}}}`:                                       {Spend: limit(120, 1_800_001_000), Since: at},
		`{"rate_limits":{"five_hour":{"used_percentage":-4,"resets_at":1800001000},"seven_day":{"used_percentage":1e300,"resets_at":1800001000}}}`:               {FiveHour: limit(0, 1_800_001_000), SevenDay: limit(999, 1_800_001_000), Since: at},
		`{"rate_limits":{"five_hour":{"used_percentage":50,"resets_at":1799999999},"seven_day":{"used_percentage":50}}}`:                                         nil, // it has ended; it ends never
		`{"rate_limits":{"five_hour":{"used_percentage":50,"resets_at":1900000000},"seven_day":{"used_percentage":50,"resets_at":1e300}}}`:                       nil, // in years
		`{"rate_limits":{"five_hour":{"resets_at":1800001000}}}`:                                                                                                 nil,
	} {
		line, err := ReadStatusLine(strings.NewReader(text))
		rig.Must(t, err)
		diff := cmp.Diff(want, line.Limits(at))
		rig.Check(t, diff == "", "%s: -want +got:\n%s", text, diff)
	}
}

// A part of an unknown form costs neither the gauge nor the other parts.
func TestUnknownFormOfOnePartLeavesTheRest(t *testing.T) {
	t.Parallel()
	line, err := ReadStatusLine(strings.NewReader(`{"cost":{"total_cost_usd":0.5},"rate_limits":{"five_hour":{"used_percentage":"half","resets_at":"2026-02-20T12:00:00Z"}},"pr":{"number":7}}`))
	rig.Must(t, err)
	rig.Check(t, line.Limits(time.Unix(1, 0)) == nil && line.PullRequest().Number == 7 && line.Gauge(time.Time{}).CostUSD == 0.5, "%+v", line)
}

func TestPullRequest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*agent.PullRequest{
		`{}`: nil,
		`{"pr":{"number":0,"url":"https://example.com/1"}}`:                                     nil,
		`{"pr":{"number":1e300}}`:                                                               nil,
		`{"pr":{"number":12,"url":"https://example.com/o/r/pull/12"}}`:                          {Number: 12, URL: "https://example.com/o/r/pull/12"},
		`{"pr":{"number":12,"url":"https://x/12","review_state":"approved","kind":"pr"}}`:       {Number: 12, URL: "https://x/12", ReviewState: "approved"},
		`{"pr":{"number":12,"url":"javascript:alert(1)","review_state":"\u001b[31mred\u202e"}}`: {Number: 12, ReviewState: "31mred"},
		`{"pr":{"number":12,"url":"https://x/` + "\u202e" + `1 2"}}`:                            {Number: 12},
		`{"pr":{"number":12,"url":"https://x/` + strings.Repeat("x", urlLimit) + `"}}`:          {Number: 12},
	} {
		line, err := ReadStatusLine(strings.NewReader(text))
		rig.Must(t, err)
		diff := cmp.Diff(want, line.PullRequest())
		rig.Check(t, diff == "", "%s: -want +got:\n%s", text, diff)
	}
}

func TestWorktree(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*agent.Worktree{
		`{}`:                        nil,
		`{"worktree":{}}`:           nil,
		`{"worktree":"x"}`:          nil,
		`{"worktree":{"name":1}}`:   nil,
		`{"worktree":{"name":"a"}}`: nil,
		`{"worktree":{"name":"fix","path":"/p/.claude/worktrees/fix","branch":"worktree-fix","original_cwd":"/p","original_branch":"main"}}`: {
			Name: "fix", Path: "/p/.claude/worktrees/fix", Branch: "worktree-fix", OriginalCwd: "/p", OriginalBranch: "main",
		},
		`{"worktree":{"name":"fix","path":"/p","branch":"\u001b[2J","original_cwd":"/a\nb","original_branch":"` + strings.Repeat("x", nameLimit+1) + `"}}`: {Name: "fix", Path: "/p"},
		`{"worktree":{"name":"\u202efix","path":"/p"}}`: nil,
	} {
		line, err := ReadStatusLine(strings.NewReader(text))
		rig.Must(t, err)
		diff := cmp.Diff(want, line.Worktree())
		rig.Check(t, diff == "", "%s: -want +got:\n%s", text, diff)
	}
}
