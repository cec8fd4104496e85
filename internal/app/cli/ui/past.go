package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Past is how much of the past to print, in events and logs.
type Past struct {
	last  int
	since string
}

// Bind adds the flags.
func (p *Past) Bind(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.IntVarP(&p.last, "last", "n", 0, "only this many "+what+" from the end (default: all)")
	flags.StringVar(&p.since, "since", "", "only "+what+" since this time: 90m, 2h, 7d, or a time such as 2026-02-20T11:44:07Z")
}

// Parse checks the flags. Errors: BadInput.
func (p *Past) Parse(cmd *cobra.Command, now time.Time) (last int, since time.Time, err error) {
	if cmd.Flags().Changed("last") && p.last < 1 {
		return 0, since, fail.Errorf(fail.BadInput, "%s: --last %d must be 1 or more", cmd.Name(), p.last).Hint("nbs-worker %s --last 20", cmd.Name())
	}
	if since, err = ParseSince(p.since, now); err != nil {
		return 0, since, fail.Errorf(fail.BadInput, "%s: --since: %w", cmd.Name(), err).Hint("nbs-worker %s --since 2h", cmd.Name())
	}
	return p.last, since, nil
}

// ParseSince reads a time, or a duration before now.
func ParseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s is not a duration (90m, 2h, 7d) or a time (2026-02-20T11:44:07Z)", human.Quote(text))
	}
	return at, nil
}
