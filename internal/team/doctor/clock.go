package doctor

import (
	"fmt"
	"time"

	"nbs-worker/internal/team/inspect"
)

// clockSlack is how far a record may be ahead of the clock without a finding.
const clockSlack = 2 * time.Minute

func (d *examination) fromTheFuture(row inspect.Row) (all findings) {
	latest := row.Record.Started
	for _, exit := range row.Record.Exits {
		if exit.At.After(latest) {
			latest = exit.At
		}
	}
	if ahead := latest.Sub(d.project.Seconds()); ahead > clockSlack {
		all.add(Warning, fmt.Sprintf("the record of %s is %s ahead of the clock", row.Handle, ahead.Round(time.Second)),
			"ages and uptimes are wrong while the clock is; agents are still identified correctly", "set the clock: timedatectl set-ntp true")
	}
	return all
}
